package io.stele.tabletserver;

import io.stele.metadata.TabletRecord;
import io.stele.model.SteleException;
import io.stele.model.TableSchema;
import io.stele.model.TabletId;
import io.stele.model.TabletKind;
import io.stele.runtime.Futures;
import io.stele.runtime.Permits;
import io.stele.runtime.ProcessRuntime;
import io.stele.tablet.Tablet;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.LongAdder;

/**
 * A tablet that this server has loaded, and the server's own state about it.
 *
 * <p>Permits separate the work on it. Merging and major compactions, which rewrite SSTables, may
 * run at the same time, but not while a split or unload ends the tablet: that takes all permits of
 * rewrites, then the permit of minor compactions. Only a running task holds permits: work that is
 * queued for a thread has none. Safe for use by any number of threads.
 */
final class HostedTablet {
  /** How many merging and major compactions of one tablet may run at once. */
  static final int REWRITES_MAX = 4;

  private final ProcessRuntime runtime;
  private final Tablet tablet;
  private final RecordManifest manifest;
  private final Permits minor;
  private final Permits rewrites;
  private final WorkHistory work;
  private final CompactionRequests compactions = new CompactionRequests();
  private final LongAdder requests = new LongAdder();
  private volatile long memtableBytesMax = Long.MAX_VALUE;
  private volatile Optional<TabletRecord> indivisible = Optional.empty();
  private volatile Optional<TabletRecord> united = Optional.empty();
  private volatile Optional<Idle> idle = Optional.empty();

  /** The record and schema under which the tablet was last found to need no rewriting. */
  private record Idle(TabletRecord record, TableSchema schema, long nanos) {}

  HostedTablet(ProcessRuntime runtime, Tablet tablet, RecordManifest manifest) {
    this.runtime = runtime;
    this.tablet = tablet;
    this.manifest = manifest;
    this.minor = new Permits(runtime, 1);
    this.rewrites = new Permits(runtime, REWRITES_MAX);
    this.work = new WorkHistory(runtime);
  }

  TabletId id() {
    return tablet.id();
  }

  Tablet tablet() {
    return tablet;
  }

  RecordManifest manifest() {
    return manifest;
  }

  /** Counts one request. */
  void countRequest() {
    requests.increment();
  }

  /** How many requests the tablet has received. */
  long requests() {
    return requests.sum();
  }

  /** The tablet's record as this server last read or wrote it. */
  TabletRecord record() {
    return manifest.record();
  }

  TabletKind kind() {
    return TabletKind.of(id());
  }

  /** The background work on it: what is queued, and what has failed. */
  WorkHistory work() {
    return work;
  }

  /** The major compactions that users have requested. */
  CompactionRequests compactions() {
    return compactions;
  }

  /** Refuses writes from now on while the memtables have more than this many bytes. */
  void limitMemtables(long bytes) {
    memtableBytesMax = bytes;
  }

  /**
   * Returns normally if the tablet may grow.
   *
   * @throws SteleException RETRY_LATER if its memtables cannot be written out and are large: it
   *     must not use up the memory of others
   */
  void requireRoom() {
    long most = memtableBytesMax;
    if (most != Long.MAX_VALUE && tablet.memtableBytes() > most) {
      throw SteleException.retryLater(
          "tablet "
              + id()
              + " accepts no writes until it can make a minor compaction: "
              + work.troubles());
    }
  }

  /**
   * Remembers that no row splits the SSTables of {@code record} in half: they may be a single row.
   */
  void foundIndivisible(TabletRecord record) {
    indivisible = Optional.of(record);
  }

  /**
   * Whether a split may be tried: never of the root tablet, and of no tablet whose SSTables are
   * still those for which no split row was found.
   */
  boolean maySplit() {
    return !id().equals(TabletId.ROOT)
        && indivisible.filter(found -> found.files().equals(record().files())).isEmpty();
  }

  /** Makes a major compaction, and remembers which files it has left. */
  void uniteFiles() throws IOException {
    TabletRecord before = record();
    tablet.majorCompact();
    TabletRecord after = record();
    boolean whole = before.redo().equals(after.redo()); // Otherwise other files have come.
    united = whole ? Optional.of(after) : Optional.empty();
  }

  /** Whether {@link #uniteFiles} may leave fewer files: any of them, or the pins, have changed. */
  boolean mayUniteFiles() {
    TabletRecord now = record();
    return united
        .filter(then -> then.files().equals(now.files()) && then.pins().equals(now.pins()))
        .isEmpty();
  }

  /**
   * Remembers that the SSTables of {@code record} were not to be compacted or split.
   *
   * @param record read before they were looked at, as is {@code schema}
   */
  void foundIdle(TabletRecord record, TableSchema schema) {
    idle = Optional.of(new Idle(record, schema, runtime.nanoTime()));
  }

  /**
   * Whether {@link #foundIdle} said so less than {@code trusted} ago, and neither the record, which
   * has the files and the pins, nor the schema has changed since.
   */
  boolean isIdle(Duration trusted) {
    Optional<Idle> found = idle;
    return found.isPresent()
        && found.get().record().equals(record())
        && found.get().schema().equals(tablet.schema())
        && runtime.nanoTime() - found.get().nanos() < trusted.toNanos();
  }

  /** A single permit, held by each minor compaction, and last by what ends the tablet. */
  Permits minor() {
    return minor;
  }

  /** Permits, one held by each merging or major compaction, all by what ends the tablet. */
  Permits rewrites() {
    return rewrites;
  }

  /** Takes the permit of minor compactions. */
  void awaitMinor() throws IOException {
    take(minor, 1);
  }

  /** Takes one permit of rewrites. */
  void awaitRewrite() throws IOException {
    take(rewrites, 1);
  }

  /** Takes all permits of rewrites. */
  void awaitRewrites() throws IOException {
    take(rewrites, REWRITES_MAX);
  }

  private void take(Permits permits, int count) throws IOException {
    try {
      permits.acquire(count);
    } catch (InterruptedException e) {
      throw Futures.interrupted(e, "waiting for the compactions of tablet " + id());
    }
  }
}
