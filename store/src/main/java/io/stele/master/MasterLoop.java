package io.stele.master;

import io.stele.metadata.Assignment;
import io.stele.metadata.Bootstrap;
import io.stele.metadata.LoadTrouble;
import io.stele.metadata.ServerInfo;
import io.stele.metadata.TabletRecord;
import io.stele.metadata.TabletRecords;
import io.stele.model.Bytes;
import io.stele.model.RowRange;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.model.TabletId;
import io.stele.runtime.ProcessRuntime;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The active master's one thread: looks at servers and records, lets {@link AssignmentPlanner}
 * decide, acts, and waits until something changes.
 *
 * <p>It keeps the tables' records in memory and reads again, one by one, only those of tablets in
 * transition; all of them sometimes, and when servers or tables change. What it does is conditional
 * on the records as they are, so acting on an old one does nothing.
 */
final class MasterLoop implements Runnable {
  private static final Logger LOG = LoggerFactory.getLogger(MasterLoop.class);
  private static final Duration IDLE = Duration.ofSeconds(1);
  private static final Duration BUSY = Duration.ofMillis(50);
  private static final Duration FAILED = Duration.ofMillis(500);
  private static final Duration FULL_READ_EVERY = Duration.ofSeconds(10);
  private static final int FULL_READ_SHARE = 20;
  private static final int REPORTED_MAX = 10_000;

  private final ProcessRuntime runtime;
  private final TabletRecords records;
  private final ServerWatch servers;
  private final TabletServers requests;
  private final TableAdmin tables;
  private final OrphanRecords orphans;
  private final ServerReports reports;
  private final LoadTroubles troubles;
  private final Moves moves;
  private final Merges merges;
  private final PlanExecutor executor;
  private final Wake wake;

  private volatile boolean stopped;
  private volatile Optional<Balance> balance = Optional.empty();
  private volatile Optional<Reshaping> reshaping = Optional.empty();
  private volatile View view = new View(Map.of(), new TreeMap<>());

  private boolean bootstrapped;
  private boolean fullDue;
  private List<TabletRecord> metadataRecords = List.of();
  private final KnownRecords tableRecords = new KnownRecords();
  private final Set<TabletId> readInFull = new HashSet<>(); // Tablets of METADATA.
  private final Set<RecordRow> reported = new ConcurrentSkipListSet<>();
  private long nextFullReadNanos;

  /** Where the record of a tablet of {@code table} is. */
  record RecordRow(TableId table, Bytes row) implements Comparable<RecordRow> {
    @Override
    public int compareTo(RecordRow other) {
      return row.compareTo(other.row); // It begins with the table.
    }
  }

  /**
   * What the loop saw last, for requests.
   *
   * @param live the servers that hold their locks
   * @param tablets by id
   */
  record View(Map<ServerId, ServerInfo> live, NavigableMap<TabletId, TabletRecord> tablets) {
    /** Whether a live server serves the tablet. */
    boolean isServed(TabletRecord record) {
      return MasterLoop.isServed(record, live);
    }

    /** A tablet that is known to be there. */
    TabletRecord tablet(TabletId id) {
      return Objects.requireNonNull(tablets.get(id), () -> "tablet " + id + " is not in view");
    }

    /** A server that is known to be live. */
    ServerInfo server(ServerId id) {
      return Objects.requireNonNull(live.get(id), () -> "server " + id + " is not in view");
    }

    /** Whether live servers serve all tablets of the table. */
    boolean isServed(TableId table) {
      List<TabletRecord> all = new ArrayList<>();
      for (TabletRecord record : tablets.tailMap(new TabletId(table, "0".repeat(16))).values()) {
        if (!record.id().table().equals(table)) {
          break;
        }
        if (!isServed(record)) {
          return false;
        }
        all.add(record);
      }
      all.sort(Comparator.comparing(TabletRecord::row));
      return TabletRecords.tile(all);
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
    this.requests = requests;
    this.tables = tables;
    this.orphans = new OrphanRecords(tables.schemas(), records);
    this.reports = new ServerReports(runtime, requests);
    this.troubles = new LoadTroubles(runtime, records);
    this.moves = new Moves(runtime);
    this.merges = new Merges(runtime, records);
    this.executor = new PlanExecutor(runtime, records, requests);
  }

  /** Ends the loop after what it is doing. */
  void stop() {
    stopped = true;
    executor.close();
    wake.look();
  }

  /** Tables or servers changed: the loop reads all records, soon. */
  void lookAtAll() {
    wake.lookAtAll();
  }

  /** What the loop saw last. */
  View view() {
    return view;
  }

  /** What the servers say of themselves. */
  ServerReports reports() {
    return reports;
  }

  /** The tablets that are to go to other servers. */
  Moves moves() {
    return moves;
  }

  /** The tablets that are to become one with a neighbour. */
  Merges merges() {
    return merges;
  }

  /** Has tablets balanced from now on, as {@code how} says. */
  void balanceBy(Balance how) {
    balance = Optional.of(how);
  }

  /** Has hot tablets split and small ones merged from now on, as {@code how} says. */
  void reshapeBy(Reshaping how) {
    reshaping = Optional.of(how);
  }

  /** The records in these rows of METADATA may have changed: the loop reads them, soon. */
  void changed(Collection<RecordRow> rows) {
    for (RecordRow row : rows) {
      if (reported.size() >= REPORTED_MAX) {
        lookAtAll();
        return;
      }
      if (!row.table().isSystem()) { // Those are read at each step.
        reported.add(row);
      }
    }
    wake.look();
  }

  /** Something is to be done that {@link #moves} tells. */
  void look() {
    wake.look();
  }

  /** A server could not load a tablet. */
  void notLoaded(LoadFailure failure) {
    troubles.failed(failure);
    wake.look();
  }

  /** Sets the first pause after which a tablet in quarantine is tried again. */
  void retryQuarantinedAfter(Duration pause) {
    troubles.retryAfter(pause);
  }

  /** When a tablet in quarantine is tried again, if that is known. */
  Optional<Duration> retryIn(TabletId tablet) {
    return troubles.retryIn(tablet);
  }

  /**
   * Has the records of a table removed that the lock service does not have, whatever data they
   * name.
   *
   * @return whether none is left
   */
  boolean giveUp(TableId table) throws IOException {
    orphans.giveUp(table);
    wake.lookAtAll();
    return records.readUndamaged(table).isEmpty();
  }

  /** Somebody wants a tablet tried again that is in quarantine. */
  void release(TabletId tablet) {
    troubles.release(tablet);
    wake.look();
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
   * @return whether something is under way that will change soon
   */
  boolean step() throws IOException {
    boolean asked = wake.takeAll();
    boolean full = asked || fullDue || runtime.nanoTime() - nextFullReadNanos >= 0;
    fullDue = true; // Unless this step comes to its end.
    servers.refresh(full);
    Map<ServerId, ServerInfo> live = servers.live();
    requests.retain(live.values().stream().map(ServerInfo::control).collect(Collectors.toSet()));

    TabletRecord root =
        records.readRoot().orElseThrow(() -> new IOException("the root tablet has no record"));
    boolean rootServed = isServed(root, live);
    if (rootServed) {
      if (!bootstrapped) {
        Bootstrap.finish(records);
        bootstrapped = true;
      }
      metadataRecords = records.readUndamaged(TableId.METADATA);
    }
    ServedMetadata metadata = servedMetadata(rootServed, live);
    if (full) {
      tables.resume();
    }
    Set<TableId> dropping = tables.dropping();
    boolean complete = readTables(full, metadata, live, dropping);
    if (hasLost(live)) {
      return true;
    }

    NavigableMap<TabletId, TabletRecord> known = new TreeMap<>();
    known.put(root.id(), root);
    metadataRecords.forEach(record -> known.put(record.id(), record));
    tableRecords.all().forEach(record -> known.put(record.id(), record));
    known.values().forEach(record -> record.assignment().server().ifPresent(servers::named));
    List<TabletRecord> gone = orphans(full);
    dropping = withGivenUp(dropping, gone);
    gone.stream()
        .filter(orphan -> !orphans.isGivenUp(orphan))
        .forEach(orphan -> known.remove(orphan.id()));
    executor.retain(known.keySet());
    view = new View(live, known);
    reports.ask(live);
    reports.takeRates().forEach(rates -> rates.forEach(tableRecords.loads()::measured));
    servers.logs().goOn(live);

    ClusterSnapshot snapshot = snapshot(live, known, dropping);
    List<Action> actions = AssignmentPlanner.plan(snapshot);
    PlanExecutor.Outcome outcome = executor.execute(actions, view, metadata, () -> hasLost(live));
    outcome.changed().forEach(this::remember);
    complete &= outcome.complete();
    // Nothing else that needs METADATA comes before what makes METADATA reachable again.
    complete &= tidyUp(gone, known, metadata);
    boolean merging = !hasLost(live) && merge(known, dropping, metadata);
    boolean moved = tables.goOn(metadata::hasRecords) || merging;
    if (complete && balance.isPresent() && isAtPeace(root)) {
      moved |= balance(balance.get(), snapshot, known);
    }
    if (complete && !moved && reshaping.isPresent() && isAtPeace(root)) {
      moved |= reshape(reshaping.get(), snapshot, known);
    }
    fullDue = !complete;
    servers.recoveries().look(view, servers.logs()::isUnderWay, complete);
    return !complete
        || !actions.isEmpty()
        || moved
        || servers.isFencing()
        || servers.logs().isUnderWay();
  }

  /**
   * Whether a server of {@code live} is so no more. The step then ends, and another begins: each
   * try to reach what that server has of METADATA would take its time, and there may be many.
   */
  private boolean hasLost(Map<ServerId, ServerInfo> live) {
    return !servers.live().keySet().containsAll(live.keySet());
  }

  private static boolean isServed(TabletRecord record, Map<ServerId, ServerInfo> live) {
    return record.assignment().state() == Assignment.State.LOADED
        && record.assignment().server().filter(live::containsKey).isPresent();
  }

  private ServedMetadata servedMetadata(boolean rootServed, Map<ServerId, ServerInfo> live) {
    return new ServedMetadata(
        rootServed,
        metadataRecords.stream()
            .filter(record -> isServed(record, live))
            .map(record -> new ServedMetadata.Part(record.id(), record.extent()))
            .toList());
  }

  /**
   * Reads the records of the tables, as far as METADATA is served: all that were not read since the
   * last full look, of the others only those on their way.
   *
   * @return whether everything that was tried could be read
   */
  private boolean readTables(
      boolean full,
      ServedMetadata metadata,
      Map<ServerId, ServerInfo> live,
      Set<TableId> dropping) {
    long start = runtime.nanoTime();
    if (full) {
      readInFull.clear();
    }
    boolean complete = true;
    for (List<ServedMetadata.Part> run : metadata.runs()) {
      if (!read(run, live, dropping)) {
        complete = false;
        for (ServedMetadata.Part part : run.size() > 1 ? run : List.<ServedMetadata.Part>of()) {
          if (!hasLost(live)) {
            read(List.of(part), live, dropping);
          }
        }
      }
    }
    if (full) {
      long took = runtime.nanoTime() - start;
      nextFullReadNanos =
          start + Math.max(FULL_READ_EVERY.toNanos(), Math.multiplyExact(took, FULL_READ_SHARE));
    }
    return complete;
  }

  /** Returns whether it could. */
  private boolean read(
      List<ServedMetadata.Part> run, Map<ServerId, ServerInfo> live, Set<TableId> dropping) {
    try {
      if (run.stream().allMatch(part -> readInFull.contains(part.id()))) {
        readAgain(ServedMetadata.rows(run), live, dropping);
      } else {
        readAll(ServedMetadata.rows(run));
        run.forEach(part -> readInFull.add(part.id()));
      }
      return true;
    } catch (IOException | SteleException e) {
      LOG.warn(
          "METADATA's rows {} cannot be read now; will retry: {}",
          ServedMetadata.rows(run),
          e.toString());
      return false;
    }
  }

  private void readAll(RowRange rows) throws IOException {
    tableRecords.replace(rows, records.readUndamaged(rows));
  }

  private void readAgain(RowRange rows, Map<ServerId, ServerInfo> live, Set<TableId> dropping)
      throws IOException {
    Set<RecordRow> open =
        tableRecords.all().stream()
            .filter(record -> rows.contains(record.row()))
            .filter(
                record ->
                    !isServed(record, live)
                        || dropping.contains(record.id().table())
                        || moves.has(record.id())
                        || merges.has(record.id()))
            .map(record -> new RecordRow(record.id().table(), record.row()))
            .collect(Collectors.toCollection(TreeSet::new));
    Set<RecordRow> news =
        reported.stream()
            .filter(row -> rows.contains(row.row()))
            .collect(Collectors.toUnmodifiableSet());
    reported.removeAll(news); // Before they are read: more may be reported meanwhile.
    open.addAll(news);
    try {
      for (PlanExecutor.Reread read : executor.readAgain(open)) {
        if (read.now().isPresent()) {
          tableRecords.put(read.now().get());
        } else {
          tableRecords.remove(read.row().row());
        }
      }
    } catch (IOException | SteleException e) {
      wake.lookAtAll(); // What was reported is not forgotten.
      throw e;
    }
  }

  /**
   * Whether no server is being replaced and all METADATA is served. Otherwise a tablet that moves
   * would be away until its record can be written.
   */
  private boolean isAtPeace(TabletRecord root) {
    return !servers.isFencing() && view.isServed(root) && view.isServed(TableId.METADATA);
  }

  /** Begins moves that even out what servers have; returns whether it did. */
  private boolean balance(
      Balance how, ClusterSnapshot snapshot, Map<TabletId, TabletRecord> known) {
    try {
      List<Balancer.Move> begun =
          how.decide(tableRecords.loads(), () -> snapshot.toBalance(away(known)));
      for (Balancer.Move move : begun) {
        LOG.info("Moving {} from {} to {}, to balance", move.tablet(), move.from(), move.to());
        moves.ask(Objects.requireNonNull(known.get(move.tablet())), Optional.of(move.to()));
      }
      return !begun.isEmpty();
    } catch (IOException e) {
      LOG.warn("Cannot balance now; will retry: {}", e.toString());
      return false;
    }
  }

  /** Has hot tablets split and small ones merged; returns whether it begins to. */
  private boolean reshape(
      Reshaping how, ClusterSnapshot snapshot, Map<TabletId, TabletRecord> known) {
    try {
      Reshaping.Wishes wishes =
          how.decide(tableRecords, merges.isUnderWay(), () -> snapshot.toBalance(away(known)));
      for (TabletId tablet : wishes.split()) {
        TabletRecord record = Objects.requireNonNull(known.get(tablet));
        Optional<ServerInfo> server = record.assignment().server().map(id -> view.live().get(id));
        if (server.isPresent()) {
          LOG.info("Having {} split: it is asked too much for one server", record);
          requests.split(server.get(), record);
        }
      }
      wishes
          .merge()
          .ifPresent(
              pair -> {
                LOG.info("Merging {} and {}: they are small", pair.lower(), pair.upper());
                merges.ask(pair.lower(), pair.upper());
              });
      return wishes.merge().isPresent();
    } catch (IOException e) {
      LOG.warn("Cannot look for hot and small tablets now; will retry: {}", e.toString());
      return false;
    }
  }

  /** How many tablets of tables wait to be served. */
  private int away(Map<TabletId, TabletRecord> known) {
    Predicate<TabletRecord> held = merges.held(known);
    return (int)
        tableRecords.loads().away().stream()
            .filter(known::containsKey)
            .filter(id -> isToBeServed(Objects.requireNonNull(known.get(id)), held))
            .count();
  }

  /** Goes on with merges; returns whether some are under way. */
  private boolean merge(
      Map<TabletId, TabletRecord> known, Set<TableId> dropping, ServedMetadata metadata) {
    Merges.Outcome outcome =
        merges.goOn(known, dropping, record -> metadata.hasRecord(record.id(), record.row()));
    for (TabletRecord gone : outcome.removed()) {
      tableRecords.remove(gone.row());
    }
    outcome.changed().forEach(this::remember);
    if (!outcome.changed().isEmpty()) {
      wake.look(); // At what can be assigned now.
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

  /** Tablets of tables that are gone and given up go like those of dropped ones. */
  private Set<TableId> withGivenUp(Set<TableId> dropping, List<TabletRecord> gone) {
    Set<TableId> all = new TreeSet<>(dropping);
    gone.stream().filter(orphans::isGivenUp).forEach(orphan -> all.add(orphan.id().table()));
    return all;
  }

  /** The records of tables that are gone: no action uses them, unless the table is given up. */
  private List<TabletRecord> orphans(boolean full) throws IOException {
    if (full) {
      orphans.lookAgain();
    }
    return orphans.among(tableRecords.all());
  }

  /**
   * Removes the records of tables that are {@code gone}, writes down which tablets could not be
   * loaded, and compares the records with what is served; what cannot be done now waits.
   *
   * @return whether all was done, and is as it should be
   */
  private boolean tidyUp(
      List<TabletRecord> gone, Map<TabletId, TabletRecord> known, ServedMetadata metadata) {
    Predicate<TabletRecord> reachable = record -> metadata.hasRecord(record.id(), record.row());
    try {
      for (TabletRecord orphan : gone) {
        if (reachable.test(orphan) && orphans.remove(orphan)) {
          tableRecords.remove(orphan.row());
        }
      }
      troubles.apply(known, reachable).forEach(this::remember);
      return checkServed(known.values(), reachable);
    } catch (IOException | SteleException e) {
      LOG.warn("Not all records could be tidied up; the next step goes on: {}", e.toString());
      return false;
    }
  }

  /**
   * Compares what is LOADED with what the servers report. A server that lacks a tablet that
   * METADATA says is LOADED there loses its lock: it ends, and its tablets go to others when it is
   * fenced.
   *
   * @param reachable whether a record can be read now
   * @return whether all is as it should be
   */
  private boolean checkServed(Collection<TabletRecord> known, Predicate<TabletRecord> reachable)
      throws IOException {
    boolean good = true;
    for (TabletRecord record : reports.unserved(known)) {
      if (!reachable.test(record)) {
        continue;
      }
      good = false;
      Optional<TabletRecord> now = records.read(record.id().table(), record.row());
      if (now.isEmpty() || !now.get().state().equals(record.state())) {
        now.ifPresent(this::remember); // It was just released, or split.
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
    return !troubles.holds(record) && !held.test(record) && servers.logs().isReady(record);
  }

  private ClusterSnapshot snapshot(
      Map<ServerId, ServerInfo> live, Map<TabletId, TabletRecord> known, Set<TableId> dropping) {
    Predicate<TabletRecord> held = merges.held(known);
    return new ClusterSnapshot(
        live.entrySet().stream()
            .map(
                server -> new ClusterSnapshot.Server(server.getKey(), server.getValue().draining()))
            .toList(),
        servers.fenced(),
        known.values().stream()
            .filter(record -> isToBeServed(record, held))
            .map(
                record ->
                    new ClusterSnapshot.Tablet(
                        record.id(),
                        record.row(),
                        record.extent(),
                        record.assignment(),
                        record.fileBytes(),
                        record.trouble().map(LoadTrouble::server)))
            .toList(),
        dropping,
        moves.current(known, live));
  }

  private void remember(TabletRecord record) {
    if (!record.id().table().isSystem()) {
      tableRecords.put(record);
    }
  }
}
