package io.stele.master;

import io.stele.metadata.Assignment;
import io.stele.metadata.Bootstrap;
import io.stele.metadata.MetadataKeys;
import io.stele.metadata.ServerInfo;
import io.stele.metadata.TabletRecord;
import io.stele.metadata.TabletRecordReader;
import io.stele.metadata.TabletRecords;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.model.TabletId;
import io.stele.runtime.ProcessRuntime;
import java.io.IOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The thread of the active master that assigns tablets: it looks at servers and records, lets
 * {@link AssignmentPlanner} decide, acts, and waits until something changes. Fences, changes of
 * tables, requests and writes of records run on other threads.
 *
 * <p>It keeps the tablets' records in memory, and reads again what may have changed ({@link
 * RecordReads}). Its actions are conditional on the current records, so acting on an outdated
 * record does nothing.
 */
final class MasterLoop implements Runnable {
  private static final Logger LOG = LoggerFactory.getLogger(MasterLoop.class);
  private static final Duration IDLE = Duration.ofSeconds(1);
  private static final Duration BUSY = Duration.ofMillis(50);
  private static final Duration FAILED = Duration.ofMillis(500);
  private static final Duration REFRESH_EVERY = Duration.ofSeconds(10);
  private static final int PART_ROWS = 1000;

  private final ProcessRuntime runtime;
  private final TabletRecords records;
  private final ServerWatch servers;
  private final Fences fences;
  private final TabletServers requests;
  private final TableAdmin tables;
  private final OrphanRecords orphans;
  private final ServerReports reports;
  private final SilentServers silent;
  private final LoadTroubles troubles;
  private final Moves moves;
  private final Merges merges;
  private final Rebalancing rebalancing;
  private final ColdStart coldStart;
  private final PlanExecutor executor;
  private final Wake wake;

  private volatile boolean stopped;
  private volatile View view = new View(Map.of(), new TreeMap<>());

  private boolean hasBegun; // The first step has.
  private boolean bootstrapped;
  private boolean fullDue;
  private volatile boolean refreshAsked;
  private long refreshNanos; // When to refresh.
  private List<TabletRecord> metadataRecords = List.of();
  private final KnownRecords known = new KnownRecords();
  private final RecordReads reads;

  /**
   * What the loop saw last, for requests.
   *
   * @param live the servers that hold their locks
   * @param tablets by id; the map changes while the loop runs
   */
  record View(Map<ServerId, ServerInfo> live, NavigableMap<TabletId, TabletRecord> tablets) {
    /** Whether a live server serves the tablet. */
    boolean isServed(TabletRecord record) {
      return MasterLoop.isServed(record, live);
    }

    /** The tablet of this id, which must be known. */
    TabletRecord tablet(TabletId id) {
      return Objects.requireNonNull(tablets.get(id), () -> "tablet " + id + " is not in view");
    }

    /** The server of this id, which must be live. */
    ServerInfo server(ServerId id) {
      return Objects.requireNonNull(live.get(id), () -> "server " + id + " is not in view");
    }

    /** Whether live servers serve all tablets of the table. */
    boolean isServed(TableId table) {
      Collection<TabletRecord> all = KnownRecords.of(table, tablets);
      return all.stream().allMatch(this::isServed)
          && TabletRecordReader.tile(
              all.stream().sorted(Comparator.comparing(TabletRecord::row)).toList());
    }
  }

  MasterLoop(
      ProcessRuntime runtime,
      TabletRecords records,
      ServerWatch servers,
      TabletServers requests,
      TableAdmin tables,
      Wake wake) {
    this.runtime = runtime;
    this.wake = wake;
    this.records = records;
    this.servers = servers;
    this.fences = servers.fences();
    this.requests = requests;
    this.tables = tables;
    this.orphans = new OrphanRecords(tables.schemas(), records);
    this.reports = new ServerReports(runtime, requests, known.loads().hosts());
    this.silent = new SilentServers(reports);
    this.troubles = new LoadTroubles(runtime, records);
    this.moves = new Moves(runtime);
    this.merges = new Merges(runtime, records);
    this.rebalancing = new Rebalancing(moves, merges, requests);
    this.coldStart = new ColdStart(runtime);
    this.executor = new PlanExecutor(runtime, records, requests);
    this.reads = new RecordReads(runtime, records.reader(), executor, known, wake, PART_ROWS);
    this.refreshNanos = runtime.nanoTime();
  }

  /** Ends the loop after its current action. */
  void stop() {
    stopped = true;
    executor.close();
    wake.wakeUp();
  }

  /** The records of a table may have changed: the loop soon reads them. */
  void rereadSoon(TableId table) {
    wake.rereadSoon(MetadataKeys.table(table));
  }

  /** What the loop saw last. */
  View view() {
    return view;
  }

  /** The master's wall clock. */
  InstantSource clock() {
    return runtime.wallClock();
  }

  /** The servers' reports about themselves. */
  ServerReports reports() {
    return reports;
  }

  /** The servers that take tablets, and have said something lately. */
  List<ServerId> takers() {
    return silent.takers(view.live());
  }

  /** The tablets that will move to other servers. */
  Moves moves() {
    return moves;
  }

  /** The tablets that will be merged with a neighbour. */
  Merges merges() {
    return merges;
  }

  /** The balancing of tablets among servers. */
  Rebalancing rebalancing() {
    return rebalancing;
  }

  /** The records in these rows of METADATA may have changed: the loop soon reads them. */
  void changed(Collection<RecordRow> rows) {
    if (rows.stream().anyMatch(row -> row.table().isSystem())) {
      wake.overtake(); // Their records are read in each step.
    }
    readSoon(rows);
    wake.wakeUp();
  }

  /** Something has new work for the loop. */
  void wakeUp() {
    wake.wakeUp();
  }

  /** A server could not load a tablet. */
  void notLoaded(LoadFailure failure) {
    troubles.failed(failure);
    wake.wakeUp();
  }

  /** Sets the first pause after which a tablet in quarantine is retried. */
  void retryQuarantinedAfter(Duration pause) {
    troubles.retryAfter(pause);
  }

  /** How long until a tablet in quarantine is retried, if that is known. */
  Optional<Duration> retryIn(TabletId tablet) {
    return troubles.retryIn(tablet);
  }

  /**
   * Removes the records of a table that does not exist in the lock service, whatever data they
   * name.
   *
   * @return whether none is left
   */
  boolean giveUp(TableId table) throws IOException {
    orphans.giveUp(table);
    refreshAsked = true; // Whether the table exists is looked up again.
    rereadSoon(table);
    return records.reader().readUndamaged(table, damage -> {}).isEmpty();
  }

  /** Somebody requested that a tablet in quarantine be retried. */
  void release(TabletId tablet) {
    troubles.release(tablet);
    wake.wakeUp();
  }

  @Override
  public void run() {
    while (!stopped) {
      Duration pause;
      try {
        pause = step() ? BUSY : IDLE;
      } catch (IOException | RuntimeException e) {
        if (stopped) {
          return;
        }
        LOG.warn("The master could not complete a step; will retry: {}", e.toString());
        LOG.debug("The step failed", e);
        pause = FAILED;
      }
      try {
        wake.await(pause);
      } catch (InterruptedException e) {
        return; // The master is closed.
      }
    }
  }

  /**
   * Looks, decides and acts once.
   *
   * @return whether something in progress will change soon
   */
  boolean step() throws IOException {
    fullDue |= wake.takeAll();
    boolean refresh = fullDue || refreshAsked || runtime.nanoTime() - refreshNanos >= 0;
    servers.look(refresh);
    CompletableFuture<Void> overtaken = wake.beginStep();
    Map<ServerId, ServerInfo> live = servers.live();
    requests.retain(live.values().stream().map(ServerInfo::control).collect(Collectors.toSet()));

    TabletRecord root =
        records
            .reader()
            .readRoot()
            .orElseThrow(() -> new IOException("the root tablet has no record"));
    boolean rootServed = isServed(root, live);
    if (rootServed) {
      if (!bootstrapped) {
        Bootstrap.finish(records);
        bootstrapped = true;
      }
      metadataRecords = records.reader().readUndamaged(TableId.METADATA, damage -> {});
    }
    known.system(root, metadataRecords);
    ServedMetadata metadata = servedMetadata(rootServed, live);
    wake.reaches(metadata);
    // A new master has METADATA loaded first: it takes time to read what there is of tables.
    boolean onlyMetadata = !hasBegun && !isAllServed(root, live);
    hasBegun = true;
    if (refresh && !onlyMetadata) {
      refreshAsked = false; // Before the look-up: more may be asked meanwhile.
      tables.resume();
      orphans.lookAgain();
      refreshNanos = runtime.nanoTime() + REFRESH_EVERY.toNanos();
    }
    Set<TableId> dropping = tables.dropping();
    Step step = new Step(live, fences.fenced(), metadata, overtaken);
    boolean complete = !onlyMetadata && read(step, dropping);
    if (step.isOvertaken()) {
      return true;
    }
    Set<TableId> gone = orphans.gone(known.tables());
    known.hide(
        gone.stream().filter(table -> !orphans.isGivenUp(table)).collect(Collectors.toSet()));
    dropping = withGivenUp(dropping, gone);
    known.servers().forEach(servers::named);
    view = new View(live, known.byId());
    hearReports(live);
    fences.logs().goOn(silent.answering(live));
    return act(step, dropping, gone, complete);
  }

  /**
   * What one step works with.
   *
   * @param fenced the servers fenced so far; the next step handles those fenced later
   */
  private record Step(
      Map<ServerId, ServerInfo> live,
      Set<ServerId> fenced,
      ServedMetadata metadata,
      CompletableFuture<Void> overtaken) {
    /**
     * Whether a server was lost or a tablet of METADATA changed since the step began. The step then
     * ends, and another begins: each attempt to reach METADATA at its old place would take time,
     * and there may be many.
     */
    boolean isOvertaken() {
      return overtaken.isDone();
    }

    boolean hasRecord(TabletRecord record) {
      return metadata.hasRecord(record.id(), record.row());
    }
  }

  /**
   * Decides and acts.
   *
   * @param gone tables that no longer exist but have records left
   * @param complete whether all required records were read
   * @return whether something in progress will change soon
   */
  private boolean act(Step step, Set<TableId> dropping, Set<TableId> gone, boolean complete)
      throws IOException {
    coldStart.look(step.live().keySet(), known.loads().servers(), !known.tables().isEmpty());
    Predicate<TabletRecord> held = merges.held(known);
    Map<TabletId, TabletRecord> open = known.open(step.live().keySet(), dropping, wanted());
    executor.retain(open.keySet());
    silent.givenUp(open.values(), step.live()).forEach(troubles::failed);
    ClusterSnapshot snapshot = snapshot(step, open, dropping, held);
    List<Action> actions = AssignmentPlanner.plan(snapshot);
    PlanExecutor.Outcome outcome =
        executor.execute(actions, view, step.metadata(), step::isOvertaken);
    outcome.changed().forEach(this::remember);
    rebalancing.rest(outcome.changed());
    readSoon(outcome.outdated());
    boolean all = outcome.complete() && complete && !coldStart.isUnderWay();
    // Whatever makes METADATA reachable again comes before everything else that needs METADATA.
    all &= tidyUp(gone, step);
    boolean merging = !step.isOvertaken() && merge(dropping, step);
    boolean moved = tables.goOn(step.metadata()::hasRecords) || merging;
    if (all && isAtPeace() && !silent.isInDoubt(step.live())) {
      moved |=
          rebalancing.goOn(
              known, view, moved, () -> snapshot.toBalance(known.hidden(), away(held)));
    }
    fences.recoveries().look(view, known::on, fences.logs()::isUnderWay, all);
    return !all || !actions.isEmpty() || moved || fences.isFencing() || fences.logs().isUnderWay();
  }

  /** The tablets that will move or be merged. */
  private Set<TabletId> wanted() {
    Set<TabletId> wanted = new TreeSet<>(moves.tablets());
    wanted.addAll(merges.tablets());
    return wanted;
  }

  private void hearReports(Map<ServerId, ServerInfo> live) {
    reports.ask(live);
    reports
        .takeHeard()
        .forEach(
            (server, heard) -> {
              fences.recoveries().heard(server, heard.askedNanos());
              heard.draining().ifPresent(draining -> servers.heard(server, draining));
            });
    for (Map<TabletId, ServerReports.Measured> some : reports.takeMeasured()) {
      some.forEach(
          (tablet, now) -> known.loads().reported(tablet, now.perSecond(), now.localHosts()));
    }
  }

  private static boolean isServed(TabletRecord record, Map<ServerId, ServerInfo> live) {
    return record.assignment().state() == Assignment.State.LOADED
        && record.assignment().server().filter(live::containsKey).isPresent();
  }

  /** Whether the root tablet and all of METADATA are served. */
  private boolean isAllServed(TabletRecord root, Map<ServerId, ServerInfo> live) {
    return isServed(root, live)
        && metadataRecords.stream().allMatch(record -> isServed(record, live));
  }

  private ServedMetadata servedMetadata(boolean rootServed, Map<ServerId, ServerInfo> live) {
    return new ServedMetadata(
        rootServed,
        metadataRecords.stream()
            .filter(record -> isServed(record, live))
            .map(record -> new ServedMetadata.Part(record.id(), record.extent()))
            .toList());
  }

  /** Reads the records that may have changed; returns whether every attempted read succeeded. */
  private boolean read(Step step, Set<TableId> dropping) {
    if (fullDue) {
      fullDue = false;
      reads.readAllAgain();
    }
    reads.readSoon(wake.takeRanges());
    reads.fenced(step.fenced());
    Set<TabletId> wanted = wanted();
    Set<TableId> going = withGivenUp(dropping, orphans.givenUp());
    return reads.read(
        new RecordReads.Round(
            step.metadata(),
            step::isOvertaken,
            known.open(step.live().keySet(), going, wanted).values(),
            wanted));
  }

  private void readSoon(Collection<RecordRow> rows) {
    reads.changed(rows.stream().filter(row -> !row.table().isSystem()).toList());
  }

  /**
   * Whether no server is being replaced and all METADATA is served. Otherwise a moving tablet would
   * be unserved until its record can be written.
   */
  private boolean isAtPeace() {
    return !fences.isFencing() && view.isServed(TableId.ROOT) && view.isServed(TableId.METADATA);
  }

  /** How many tablets of tables wait to be served. */
  private int away(Predicate<TabletRecord> held) {
    return (int)
        known.loads().away().stream()
            .flatMap(id -> Optional.ofNullable(known.byId().get(id)).stream())
            .filter(record -> isToBeServed(record, held))
            .count();
  }

  /** Continues merges; returns whether any are in progress. */
  private boolean merge(Set<TableId> dropping, Step step) {
    Merges.Outcome outcome = merges.goOn(known, dropping, step::hasRecord);
    for (TabletRecord gone : outcome.removed()) {
      known.remove(gone.row());
    }
    outcome.changed().forEach(this::remember);
    if (!outcome.changed().isEmpty()) {
      wake.wakeUp(); // Tablets may have become free to assign.
    }
    for (TabletRecord unwanted : outcome.unload()) {
      unwanted
          .assignment()
          .server()
          .filter(view.live()::containsKey)
          .ifPresent(server -> requests.unload(view.server(server), unwanted));
    }
    return !outcome.complete() || !outcome.unload().isEmpty() || !outcome.changed().isEmpty();
  }

  /**
   * The tables being dropped, and those that are gone and given up: tablets of both are removed
   * alike.
   */
  private Set<TableId> withGivenUp(Set<TableId> dropping, Set<TableId> gone) {
    Set<TableId> all = new TreeSet<>(dropping);
    gone.stream().filter(orphans::isGivenUp).forEach(all::add);
    return all;
  }

  /**
   * Removes records of tables that are {@code gone}, writes down which tablets could not be loaded,
   * and compares the records with what is served. Work that cannot be done now waits.
   *
   * @return whether everything was done and nothing was wrong
   */
  private boolean tidyUp(Set<TableId> gone, Step step) {
    try {
      troubles.apply(known.byId(), step::hasRecord).forEach(this::remember);
      boolean good = checkServed(step);
      for (TableId table : gone) {
        List<TabletRecord> found = known.of(table).stream().filter(step::hasRecord).toList();
        orphans.remove(table, found).forEach(orphan -> known.remove(orphan.row()));
      }
      return good;
    } catch (IOException | SteleException e) {
      LOG.warn("Could not clean up all records; the next step continues: {}", e.toString());
      return false;
    }
  }

  /**
   * Compares the tablets that are LOADED with the servers' reports. If METADATA says that a tablet
   * is LOADED at a server and the server does not have it, the server loses its lock: it ends, and
   * its tablets go to other servers once it is fenced.
   *
   * @return whether everything matches
   */
  private boolean checkServed(Step step) throws IOException {
    boolean good = true;
    for (TabletRecord record : reports.unserved(known)) {
      if (!step.hasRecord(record)) {
        continue;
      }
      good = false;
      Optional<TabletRecord> now = records.reader().read(record.id().table(), record.row());
      if (now.isEmpty() || !now.get().state().equals(record.state())) {
        known.remove(record.row());
        now.ifPresent(this::remember); // It was just released, or split.
        reads.readSoon(List.of(RecordReads.rowsOf(record)));
        continue;
      }
      ServerId server = record.assignment().server().orElseThrow();
      LOG.error(
          "{} is not served: its server runs but does not have it. Treating {} as dead",
          record,
          server);
      servers.suspected(server);
    }
    return good;
  }

  private boolean isToBeServed(TabletRecord record, Predicate<TabletRecord> held) {
    return !troubles.holds(record)
        && !held.test(record)
        && !coldStart.holds(record)
        && fences.logs().isReady(record);
  }

  private ClusterSnapshot snapshot(
      Step step,
      Map<TabletId, TabletRecord> open,
      Set<TableId> dropping,
      Predicate<TabletRecord> held) {
    Map<ServerId, Loads.Sum> others = known.loads().without(open.keySet());
    return new ClusterSnapshot(
        step.live().entrySet().stream()
            .map(server -> silent.snapshot(server.getKey(), server.getValue(), others))
            .toList(),
        step.fenced(),
        open.values().stream()
            .filter(record -> isToBeServed(record, held))
            .map(record -> ClusterSnapshot.Tablet.of(record, known.loads().localHosts(record.id())))
            .toList(),
        dropping,
        moves.current(known.byId(), step.live()));
  }

  private void remember(TabletRecord record) {
    if (!record.id().table().isSystem()) {
      known.put(record);
      reads.isAsOfNow(record);
    }
  }
}
