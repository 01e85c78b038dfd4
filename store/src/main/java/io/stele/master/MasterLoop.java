package io.stele.master;

import io.stele.metadata.Assignment;
import io.stele.metadata.Bootstrap;
import io.stele.metadata.MetadataKeys;
import io.stele.metadata.Schemas;
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
  private final Recoveries recoveries;
  private final TabletServers requests;
  private final TableChanges changes;
  private final LogSorting sorting;
  private final OrphanRecords orphans;
  private final MasterParts parts;
  private final ColdStart coldStart;
  private final PlanExecutor executor;
  private final RecordFetch fetch;
  private final LoopSignal signal;
  private final StepGuard guard;

  private volatile boolean stopped;
  private volatile View view = new View(Map.of(), new TreeMap<>());

  private boolean hasBegun; // The first step has.
  private boolean bootstrapped;
  private boolean fullDue;
  private volatile boolean refreshAsked;
  private long refreshNanos; // When to refresh.
  private List<TabletRecord> metadataRecords = List.of();
  private final KnownRecords known;
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

  /**
   * The cluster as the loop sees and changes it.
   *
   * @param servers the tablet servers' locks and deaths
   * @param requests to tablet servers
   * @param changes of tables
   * @param sorting of the logs of dead servers
   */
  record Cluster(
      TabletRecords records,
      ServerWatch servers,
      TabletServers requests,
      Schemas schemas,
      TableChanges changes,
      LogSorting sorting) {}

  MasterLoop(
      ProcessRuntime runtime,
      Cluster cluster,
      MasterParts parts,
      Recoveries recoveries,
      LoopSignal signal,
      StepGuard guard) {
    this.runtime = runtime;
    this.signal = signal;
    this.guard = guard;
    this.parts = parts;
    this.recoveries = recoveries;
    this.records = cluster.records();
    this.servers = cluster.servers();
    this.fences = servers.fences();
    this.requests = cluster.requests();
    this.changes = cluster.changes();
    this.sorting = cluster.sorting();
    this.orphans = new OrphanRecords(cluster.schemas(), records);
    this.known = new KnownRecords(parts.reports().hosts());
    this.coldStart = new ColdStart(runtime);
    this.executor = new PlanExecutor(runtime, records, requests);
    this.fetch = new RecordFetch(runtime, records.reader());
    this.reads = new RecordReads(runtime, records.reader(), fetch, known, signal, PART_ROWS);
    this.refreshNanos = runtime.nanoTime();
  }

  /** Ends the loop after its current action. */
  void stop() {
    stopped = true;
    executor.close();
    fetch.close();
    signal.wakeUp();
  }

  /** What the loop saw last. */
  View view() {
    return view;
  }

  /** The records in these rows of METADATA may have changed: the loop soon reads them. */
  void changed(Collection<RecordRow> rows) {
    if (rows.stream().anyMatch(row -> row.table().isSystem())) {
      guard.overtake(); // Their records are read in each step.
    }
    readSoon(rows);
    signal.wakeUp();
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
    signal.rereadSoon(MetadataKeys.table(table));
    return records.reader().readUndamaged(table, damage -> {}).isEmpty();
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
        signal.await(pause);
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
    Step step = refreshServers();
    readMetadata(step);
    resumeTables(step);
    readRecords(step);
    if (step.isOvertaken()) {
      return true;
    }
    publishView(step);
    hearReports(step);
    return act(step);
  }

  /** What one step works with. Its stages fill it in. */
  private static final class Step {
    final Map<ServerId, ServerInfo> live;
    final CompletableFuture<Void> overtaken;

    /** Whether the lock service is asked again what tables there are. */
    final boolean refreshes;

    ServedMetadata metadata = new ServedMetadata(false, List.of());

    /** Whether only METADATA's own tablets are looked at: not all of them are served yet. */
    boolean onlyMetadata;

    /** The servers fenced so far; the next step handles those fenced later. */
    Set<ServerId> fenced = Set.of();

    /** The tables that changes of tables are removing. */
    Set<TableId> dropping = Set.of();

    /** Whether all required records were read. */
    boolean complete;

    /** Tables that no longer exist but have records left. */
    Set<TableId> gone = Set.of();

    /** The tables whose tablets are removed: those being dropped, and those gone and given up. */
    Set<TableId> removing = Set.of();

    Step(Map<ServerId, ServerInfo> live, CompletableFuture<Void> overtaken, boolean refreshes) {
      this.live = live;
      this.overtaken = overtaken;
      this.refreshes = refreshes;
    }

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

  private Step refreshServers() throws IOException {
    fullDue |= signal.takeAll();
    boolean refreshes = fullDue || refreshAsked || runtime.nanoTime() - refreshNanos >= 0;
    if (refreshes) {
      servers.refreshWithLogs();
    } else {
      servers.refreshIfChanged();
    }
    CompletableFuture<Void> overtaken = guard.beginStep();
    Map<ServerId, ServerInfo> live = servers.live();
    requests.retain(live.values().stream().map(ServerInfo::control).collect(Collectors.toSet()));
    return new Step(live, overtaken, refreshes);
  }

  /** Reads where METADATA is: the records of the root tablet and, if it is served, METADATA's. */
  private void readMetadata(Step step) throws IOException {
    TabletRecord root =
        records
            .reader()
            .readRoot()
            .orElseThrow(() -> new IOException("the root tablet has no record"));
    boolean rootServed = isServed(root, step.live);
    if (rootServed) {
      if (!bootstrapped) {
        Bootstrap.finish(records);
        bootstrapped = true;
      }
      metadataRecords = records.reader().readUndamaged(TableId.METADATA, damage -> {});
    }
    known.system(root, metadataRecords);
    step.metadata = servedMetadata(rootServed, step.live);
    guard.reaches(step.metadata);
    // A new master has METADATA loaded first: it takes time to read what there is of tables.
    step.onlyMetadata = !hasBegun && !isAllServed(root, step.live);
    hasBegun = true;
  }

  /** Finds changes of tables that have not ended, now and then. */
  private void resumeTables(Step step) throws IOException {
    if (step.refreshes && !step.onlyMetadata) {
      refreshAsked = false; // Before the look-up: more may be asked meanwhile.
      changes.resume();
      orphans.lookAgain();
      refreshNanos = runtime.nanoTime() + REFRESH_EVERY.toNanos();
    }
    step.dropping = changes.dropping();
  }

  /** Reads the records of tables that may have changed, unless METADATA comes first. */
  private void readRecords(Step step) {
    step.fenced = fences.fenced();
    step.complete = !step.onlyMetadata && read(step);
  }

  private void publishView(Step step) throws IOException {
    step.gone = orphans.gone(known.tables());
    step.removing = withGivenUp(step.dropping, step.gone);
    known.hide(
        step.gone.stream().filter(table -> !orphans.isGivenUp(table)).collect(Collectors.toSet()));
    known.servers().forEach(servers::named);
    if (step.refreshes && step.complete) {
      servers.forgetAllBut(known.servers());
    }
    view = new View(step.live, known.byId());
  }

  /**
   * Decides and acts.
   *
   * @return whether something in progress will change soon
   */
  private boolean act(Step step) throws IOException {
    sorting.advance(parts.silent().answering(step.live));
    coldStart.update(step.live.keySet(), known.loads().servers(), !known.tables().isEmpty());
    Predicate<TabletRecord> held = parts.merges().held(known);
    Map<TabletId, TabletRecord> open = known.open(step.live.keySet(), step.removing, wanted());
    executor.retain(open.keySet());
    parts
        .silent()
        .givenUp(
            open.values(),
            step.live,
            record -> isToBeServed(record, held) && step.hasRecord(record))
        .forEach(parts.failures()::failed);
    ClusterSnapshot snapshot = snapshot(step, open, held);
    List<AssignmentStep> actions = AssignmentPlanner.plan(snapshot);
    PlanExecutor.Outcome outcome =
        executor.execute(actions, view, step.metadata, step::isOvertaken);
    outcome.changed().forEach(this::remember);
    parts.rebalancing().rest(outcome.changed());
    readSoon(outcome.outdated());
    boolean complete = step.complete && outcome.complete() && !coldStart.isInProgress();
    // Whatever makes METADATA reachable again comes before everything else that needs METADATA.
    complete &= tidyUp(step);
    boolean merging = !step.isOvertaken() && merge(step);
    boolean changing = changes.advance(step.metadata::hasRecords) || merging;
    if (complete && isAtPeace() && !parts.silent().isInDoubt(step.live)) {
      changing |=
          parts
              .rebalancing()
              .advance(known, view, changing, () -> snapshot.toBalance(known.hidden(), away(held)));
    }
    recoveries.update(view, known::on, sorting::isInProgress, complete);
    return !complete
        || !actions.isEmpty()
        || changing
        || fences.isFencing()
        || sorting.isInProgress();
  }

  /** The tablets that will move or be merged. */
  private Set<TabletId> wanted() {
    Set<TabletId> wanted = new TreeSet<>(parts.moves().tablets());
    wanted.addAll(parts.merges().tablets());
    return wanted;
  }

  private void hearReports(Step step) {
    ServerReports reports = parts.reports();
    reports.ask(step.live);
    reports
        .takeHeard()
        .forEach(
            (server, heard) -> {
              recoveries.heard(server, heard.askedNanos());
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
  private boolean read(Step step) {
    if (fullDue) {
      fullDue = false;
      reads.readAllAgain();
    }
    reads.readSoon(signal.takeRanges());
    reads.fenced(step.fenced);
    Set<TabletId> wanted = wanted();
    Set<TableId> going = withGivenUp(step.dropping, orphans.givenUp());
    return reads.read(
        new RecordReads.Round(
            step.metadata,
            step::isOvertaken,
            known.open(step.live.keySet(), going, wanted).values(),
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
  private boolean merge(Step step) {
    Merges.Outcome outcome = parts.merges().advance(known, step.removing, step::hasRecord);
    for (TabletRecord gone : outcome.removed()) {
      known.remove(gone.row());
    }
    outcome.changed().forEach(this::remember);
    if (!outcome.changed().isEmpty()) {
      signal.wakeUp(); // Tablets may have become free to assign.
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
   * Removes records of tables that are gone, writes down which tablets could not be loaded, and
   * compares the records with what is served. Work that cannot be done now waits.
   *
   * @return whether everything was done and nothing was wrong
   */
  private boolean tidyUp(Step step) {
    try {
      parts.failures().apply(known.byId(), step::hasRecord).forEach(this::remember);
      boolean good = checkServed(step);
      for (TableId table : step.gone) {
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
    for (TabletRecord record : parts.reports().unserved(known)) {
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
    return !parts.failures().holds(record)
        && !held.test(record)
        && !coldStart.holds(record)
        && sorting.isReady(record);
  }

  private ClusterSnapshot snapshot(
      Step step, Map<TabletId, TabletRecord> open, Predicate<TabletRecord> held) {
    Map<ServerId, ServerLoads.Sum> others = known.loads().without(open.keySet());
    return new ClusterSnapshot(
        step.live.entrySet().stream()
            .map(server -> parts.silent().snapshot(server.getKey(), server.getValue(), others))
            .toList(),
        step.fenced,
        open.values().stream()
            .filter(record -> isToBeServed(record, held))
            .map(record -> ClusterSnapshot.Tablet.of(record, known.loads().localHosts(record.id())))
            .toList(),
        step.removing,
        parts.moves().current(known.byId(), step.live));
  }

  private void remember(TabletRecord record) {
    if (!record.id().table().isSystem()) {
      known.put(record);
      reads.isAsOfNow(record);
    }
  }
}
