package io.stele.master;

import io.stele.metadata.Assignment;
import io.stele.metadata.Bootstrap;
import io.stele.metadata.RecordChangedException;
import io.stele.metadata.ServerInfo;
import io.stele.metadata.TabletRecord;
import io.stele.metadata.TabletRecords;
import io.stele.model.Bytes;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.model.TabletId;
import io.stele.runtime.ProcessRuntime;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The active master's one thread: looks at servers and records, has {@link AssignmentPlanner}
 * decide, acts, and waits until something changes.
 *
 * <p>It keeps the tables' records in memory and reads again, one by one, only those of tablets that
 * are on their way; all of them now and then, and when servers or tables change. What it does is
 * conditional on the records as they are, so acting on an old one does nothing.
 */
final class MasterLoop implements Runnable {
  private static final Logger LOG = LoggerFactory.getLogger(MasterLoop.class);
  private static final Duration IDLE = Duration.ofSeconds(1);
  private static final Duration BUSY = Duration.ofMillis(50);
  private static final Duration FAILED = Duration.ofMillis(500);
  private static final Duration FULL_READ_EVERY = Duration.ofSeconds(10);
  private static final int FULL_READ_SHARE = 20;
  private static final Duration LOAD_AGAIN = Duration.ofSeconds(2);

  private final ProcessRuntime runtime;
  private final TabletRecords records;
  private final ServerWatch servers;
  private final TabletServers requests;
  private final TableAdmin tables;
  private final Wake wake;

  private volatile boolean stopped;
  private volatile View view = new View(Map.of(), Map.of());

  private boolean bootstrapped;
  private boolean tablesRead;
  private boolean resumeDue;
  private Map<Bytes, TabletRecord> tableRecords = new TreeMap<>();
  private long nextFullReadNanos;
  private final Map<TabletId, Sent> sent = new TreeMap<>();

  /** A request for loading that was made. */
  private record Sent(long epoch, long nanos) {}

  /**
   * What the loop saw last, for those who ask.
   *
   * @param live the servers that hold their locks
   * @param tablets by id
   */
  record View(Map<ServerId, ServerInfo> live, Map<TabletId, TabletRecord> tablets) {
    /** Whether a live server serves the tablet. */
    boolean isServed(TabletRecord record) {
      return record.assignment().state() == Assignment.State.LOADED
          && record.assignment().server().filter(live::containsKey).isPresent();
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
  }

  /** Ends the loop after what it is doing. */
  void stop() {
    stopped = true;
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
        LOG.warn("The master could not do all it had to; it goes on: {}", e.toString());
        LOG.debug("Why", e);
        wake.lookAtAll();
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
  private boolean step() throws IOException {
    boolean full = wake.takeAll() || runtime.nanoTime() - nextFullReadNanos >= 0;
    servers.refresh(full);
    Map<ServerId, ServerInfo> live = servers.live();
    Set<TableId> dropping = tables.dropping();
    requests.retain(live.values().stream().map(ServerInfo::control).collect(Collectors.toSet()));

    Map<TabletId, TabletRecord> known = new TreeMap<>();
    TabletRecord root =
        records.readRoot().orElseThrow(() -> new IOException("the root tablet has no record"));
    known.put(root.id(), root);
    if (served(root, live)) {
      if (!bootstrapped) {
        Bootstrap.finish(records);
        bootstrapped = true;
      }
      List<TabletRecord> metadata = records.readAll(TableId.METADATA);
      metadata.forEach(record -> known.put(record.id(), record));
      if (metadata.stream().allMatch(record -> served(record, live))) {
        readTables(full || !tablesRead, live, dropping);
      } else {
        tablesRead &= !full;
      }
    } else {
      tablesRead &= !full;
    }
    tableRecords.values().forEach(record -> known.put(record.id(), record));
    known.values().forEach(record -> record.assignment().server().ifPresent(servers::named));
    sent.keySet().retainAll(known.keySet());
    view = new View(live, known);

    List<Action> actions = AssignmentPlanner.plan(snapshot(live, known, dropping));
    for (Action action : actions) {
      act(action, known.get(action.tablet()), live);
    }
    boolean cleaned = tables.clean();
    return !actions.isEmpty() || cleaned || servers.isFencing();
  }

  private static boolean served(TabletRecord record, Map<ServerId, ServerInfo> live) {
    return record.assignment().state() == Assignment.State.LOADED
        && record.assignment().server().filter(live::containsKey).isPresent();
  }

  private void readTables(boolean full, Map<ServerId, ServerInfo> live, Set<TableId> dropping)
      throws IOException {
    resumeDue |= full;
    if (resumeDue) {
      resumeDue = !tables.resume();
    }
    if (full) {
      long start = runtime.nanoTime();
      Map<Bytes, TabletRecord> all = new TreeMap<>();
      records.readAllTables().forEach(record -> all.put(record.row(), record));
      tableRecords = all;
      tablesRead = true;
      long took = runtime.nanoTime() - start;
      nextFullReadNanos =
          start + Math.max(FULL_READ_EVERY.toNanos(), Math.multiplyExact(took, FULL_READ_SHARE));
      return;
    }
    for (TabletRecord record : new ArrayList<>(tableRecords.values())) {
      if (!served(record, live) || dropping.contains(record.id().table())) {
        Optional<TabletRecord> now = records.read(record.id().table(), record.row());
        if (now.isPresent()) {
          tableRecords.put(record.row(), now.get());
        } else {
          tableRecords.remove(record.row());
        }
      }
    }
  }

  private ClusterSnapshot snapshot(
      Map<ServerId, ServerInfo> live, Map<TabletId, TabletRecord> known, Set<TableId> dropping) {
    return new ClusterSnapshot(
        live.entrySet().stream()
            .map(
                server -> new ClusterSnapshot.Server(server.getKey(), server.getValue().draining()))
            .toList(),
        servers.fenced(),
        known.values().stream()
            .map(
                record ->
                    new ClusterSnapshot.Tablet(
                        record.id(), record.assignment(), record.fileBytes()))
            .toList(),
        dropping);
  }

  private void act(Action action, TabletRecord record, Map<ServerId, ServerInfo> live)
      throws IOException {
    try {
      ServerId server = action.server();
      switch (action.kind()) {
        case ASSIGN -> {
          TabletRecord assigned = records.assign(record, server);
          LOG.info("{} is to be loaded by {}", record.id(), server);
          remember(assigned);
          load(assigned, server, live);
        }
        case LOAD -> {
          Sent last = sent.get(record.id());
          if (last == null
              || last.epoch() != record.assignment().epoch()
              || runtime.nanoTime() - last.nanos() > LOAD_AGAIN.toNanos()) {
            load(record, server, live);
          }
        }
        case RELEASE -> {
          remember(records.release(record, "released from " + server));
          LOG.info("{} is taken from {}, which is fenced", record.id(), server);
          wake.look();
        }
        case DISCARD -> requests.discard(server, live.get(server), record);
      }
    } catch (RecordChangedException e) {
      LOG.debug("{} was changed meanwhile", record, e);
      wake.lookAtAll(); // Somebody was faster; the next look shows how it is.
    } catch (SteleException e) {
      if (e.code() == SteleException.Code.RETRY_LATER) {
        throw e; // METADATA is away: what else there is to do would only wait for it too.
      }
      LOG.warn("{} could not be carried out; other tablets go on: {}", action, e.toString());
      wake.lookAtAll();
    }
  }

  private void load(TabletRecord record, ServerId server, Map<ServerId, ServerInfo> live) {
    sent.put(record.id(), new Sent(record.assignment().epoch(), runtime.nanoTime()));
    requests.load(server, live.get(server), record);
  }

  private void remember(TabletRecord record) {
    if (!record.id().table().isSystem()) {
      tableRecords.put(record.row(), record);
    }
  }
}
