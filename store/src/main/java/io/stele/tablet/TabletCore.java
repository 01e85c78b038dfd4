package io.stele.tablet;

import io.stele.model.Bytes;
import io.stele.model.TableSchema;
import io.stele.record.LoweredCounts;
import io.stele.record.Pending;
import java.util.List;

/**
 * What {@link WritePath}, {@link ReadPath}, {@link MinorCompactor}, {@link Rewriter} and {@link
 * FileChanges} share, and nothing else. Safe for use by any number of threads. Pins and pending
 * changes are changed only within {@link ManifestEdits#alone}, one at a time.
 */
final class TabletCore {
  private final TabletSpec spec;
  private final TabletEnvironment environment;
  private final CurrentState current;
  private final CommitQueue commits;
  private final OperationWindow window;
  private final TabletClock clock;
  private final Health health;
  private final Pins pins;
  private final AbandonedFiles abandoned;
  private volatile List<Pending> pending;
  private final long openedMicros;
  private volatile NumberedRules rules;

  /** Rules, and how many others there were since the tablet was opened, which judged otherwise. */
  record NumberedRules(SchemaRules rules, long number) {
    private NumberedRules altered(SchemaRules now) {
      return new NumberedRules(now, now.judgesAs(rules) ? number : number + 1);
    }
  }

  /**
   * The core of a tablet that has replayed its logs.
   *
   * @param files the open SSTables, the newest first; the first state holds them too
   */
  TabletCore(
      TabletSpec spec,
      TabletEnvironment environment,
      List<TabletFile> files,
      Replay replay,
      OperationWindow window,
      TabletClock clock) {
    this.spec = spec;
    this.environment = environment;
    this.window = window;
    this.clock = clock;
    this.health = new Health(spec.id());
    this.pins = new Pins(spec.id(), spec.pins());
    this.pending = spec.pending();
    this.abandoned = new AbandonedFiles(environment.fs());
    this.openedMicros = clock.now();
    FormerCounts counts = FormerCounts.of(spec.lowered(), files, replay::lastBefore);
    this.rules = new NumberedRules(new SchemaRules(spec.schema(), counts), 0);
    this.commits = new CommitQueue(replay.lastSequence());
    long covered = replay.above();
    this.current =
        new CurrentState(
            spec.id(), new TabletState(replay.memtable(), List.of(), files, covered, covered));
  }

  /** The record from which the tablet was opened. */
  TabletSpec spec() {
    return spec;
  }

  /** Everything that the tablet uses outside of itself. */
  TabletEnvironment environment() {
    return environment;
  }

  TabletOptions options() {
    return environment.options();
  }

  /** The memtables and files of the tablet. */
  CurrentState current() {
    return current;
  }

  /** The operations that wait for the log, and the read point. */
  CommitQueue commits() {
    return commits;
  }

  /** The remembered operations of the tablet's clients. */
  OperationWindow window() {
    return window;
  }

  TabletClock clock() {
    return clock;
  }

  Health health() {
    return health;
  }

  /** The pinned read points. */
  Pins pins() {
    return pins;
  }

  /** The changes that wait for the end of jobs. */
  List<Pending> pending() {
    return pending;
  }

  /** Replaces the waiting changes; called after the same change was committed to the manifest. */
  void setPending(List<Pending> now) {
    pending = List.copyOf(now);
  }

  /** The files that failed compactions left behind. */
  AbandonedFiles abandoned() {
    return abandoned;
  }

  /** The current schema. */
  SchemaRules rules() {
    return rules.rules();
  }

  /** The current schema, and its number. */
  NumberedRules numberedRules() {
    return rules;
  }

  /** The moment of a row that is begun now, under these rules and in that state. */
  RowMoment moment(NumberedRules now, TabletState state) {
    return new RowMoment(
        Bytes.of(spec.id().name()),
        spec.epoch(),
        openedMicros,
        now.number(),
        clock.now(),
        state.expiry());
  }

  /**
   * Replaces the schema for everything that begins from now on; the same one changes nothing.
   *
   * @param lastSequence of the operations that were done under the schema before
   */
  void alter(TableSchema schema, LoweredCounts lowered, long lastSequence) {
    SchemaRules before = rules();
    FormerCounts counts = before.counts();
    if (!schema.equals(before.schema()) || !lowered.equals(counts.lowered())) {
      rules = rules.altered(new SchemaRules(schema, counts.altered(lowered, lastSequence)));
    }
  }

  /** Has alterations after that one count as made when the last operation was {@code sequence}. */
  void alteredAfter(long sequence, int alteration) {
    SchemaRules before = rules();
    FormerCounts counts = before.counts();
    if (counts.latest() > alteration) {
      rules = rules.altered(new SchemaRules(before.schema(), counts.after(sequence, alteration)));
    }
  }
}
