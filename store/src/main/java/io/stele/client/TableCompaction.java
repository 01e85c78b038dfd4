package io.stele.client;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.stele.metadata.Attempts;
import io.stele.metadata.TabletLocation;
import io.stele.metadata.TabletRecord;
import io.stele.model.Amount;
import io.stele.model.RowRange;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.model.TabletId;
import io.stele.runtime.Deadline;
import io.stele.runtime.FanOut;
import io.stele.runtime.WorkerPool;
import io.stele.wire.Address;
import io.stele.wire.ByteStrings;
import io.stele.wire.TabletServerProtocol;
import io.stele.wire.control.ControlProtos.CompactTableRequestProto;
import io.stele.wire.control.ControlProtos.CompactTabletsRequestProto;
import io.stele.wire.control.ControlProtos.TabletCompactionProto;
import io.stele.wire.control.ControlProtos.TabletToCompactProto;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Queue;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.apache.hadoop.ipc.RemoteException;
import org.apache.hadoop.ipc.RpcNoSuchMethodException;

/**
 * Has the servers of a table compact it: each step asks all servers at once, which begin and answer
 * at once, until all rows are in tablets that have made a major compaction since they were first
 * asked. A tablet that has left its server is asked where it is now; so are the halves of one that
 * was split before it was compacted.
 *
 * <p>Safe for use by any number of threads; one takes a step at a time.
 */
final class TableCompaction implements ClusterChange.Step {
  private static final int SERVERS_AT_ONCE = 64;
  private static final int TABLETS_AT_ONCE = 1000;
  private static final int NAMED = 3;

  /** METADATA is read again, at most, for this part of the time. */
  private static final int READ_PART = 10;

  /** For a server of an earlier version, which answers only when it is done. */
  private static final Duration WHOLE_TIMEOUT = Duration.ofHours(6);

  private final Connection connection;
  private final ClusterCalls calls;
  private final CachedServerCalls servers;
  private final TableId table;
  private final String name;

  /** The tablets with rows that are not compacted yet; whole, though some of their rows may be. */
  @GuardedBy("this")
  private final Map<TabletId, Left> left = new TreeMap<>();

  /** The rows that are compacted. */
  @GuardedBy("this")
  private final List<RowRange> done = new ArrayList<>();

  /** Tablets that servers of an earlier version have compacted, if they stayed there. */
  @GuardedBy("this")
  private final Set<TabletLocation> doneIfThere = new HashSet<>();

  @GuardedBy("this")
  private Optional<Deadline> readAgain = Optional.empty(); // Empty before the first time.

  @GuardedBy("this")
  private int tablets;

  /** A tablet that is not compacted yet. */
  private static final class Left {
    final Optional<TabletLocation> at;

    /** Empty until its server has begun. */
    OptionalLong compaction = OptionalLong.empty();

    boolean isDone;

    /** Whether it may be elsewhere by now. */
    boolean mayHaveMoved;

    /** What keeps it from being compacted; empty if nothing does. */
    String trouble = "";

    /** How long the trouble may last. */
    Optional<Deadline> patience = Optional.empty();

    Left(Optional<TabletLocation> at) {
      this.at = at;
    }

    boolean isStuck() {
      return patience.filter(Deadline::isOver).isPresent();
    }
  }

  /** What a server has answered about a tablet. */
  private record Answer(Left tablet, TabletCompactionProto text) {}

  /** The answers of one round; for any number of threads. */
  private static final class Round {
    final Queue<Answer> answers = new ConcurrentLinkedQueue<>();

    /** Of servers that have compacted all that they had. */
    final Queue<Left> whole = new ConcurrentLinkedQueue<>();

    final Map<ServerId, String> failures = new ConcurrentHashMap<>();
  }

  TableCompaction(ClusterCalls calls, TableId table, String name) {
    this.connection = calls.connection();
    this.calls = calls;
    this.servers = new CachedServerCalls(connection);
    this.table = table;
    this.name = name;
  }

  /** Asks all servers once; the first time until each tablet is being compacted, or cannot be. */
  @Override
  public synchronized ClusterCalls.Progress take(Attempts attempts) throws IOException {
    boolean first = readAgain.isEmpty();
    Pauses pauses = new Pauses(connection.runtime(), what());
    while (true) {
      askAll();
      if (left.isEmpty()) {
        return ClusterCalls.Progress.DONE;
      } else if (left.values().stream().allMatch(Left::isStuck)) {
        return ClusterCalls.Progress.failed(stuck());
      } else if (!first || isBegunEverywhere()) {
        return ClusterCalls.Progress.waiting(progress());
      }
      pauses.pause();
    }
  }

  private String what() {
    return "compacting table " + name;
  }

  @GuardedBy("this")
  private boolean isBegunEverywhere() {
    return left.values().stream().allMatch(one -> one.compaction.isPresent() || one.isStuck());
  }

  @GuardedBy("this")
  private String progress() {
    String troubles = troubles();
    return (tablets - left.size())
        + " of "
        + Amount.of(tablets, "tablet")
        + " compacted"
        + (troubles.isEmpty() ? "" : "; " + troubles);
  }

  @GuardedBy("this")
  private SteleException stuck() {
    return SteleException.retryLater(
        what()
            + ": "
            + left.size()
            + " of "
            + Amount.of(tablets, "tablet")
            + " could not be compacted for "
            + connection.timeout().toMillis()
            + " ms; the others are. "
            + troubles());
  }

  /** What keeps tablets from being compacted: of the first few. */
  @GuardedBy("this")
  private String troubles() {
    List<String> texts = new ArrayList<>();
    for (Map.Entry<TabletId, Left> one : left.entrySet()) {
      if (!one.getValue().trouble.isEmpty()) {
        texts.add("tablet " + one.getKey() + ": " + one.getValue().trouble);
      }
    }
    String first = String.join("; ", texts.subList(0, Math.min(NAMED, texts.size())));
    return first + (texts.size() > NAMED ? "; and " + (texts.size() - NAMED) + " more" : "");
  }

  @GuardedBy("this")
  private void askAll() throws IOException {
    if (readAgain.isEmpty() || (mustReadAgain() && readAgain.get().isOver())) {
      read();
    }
    Map<ServerId, List<Left>> byServer = new HashMap<>();
    for (Left one : left.values()) {
      if (one.at.isEmpty()) {
        trouble(one, "no server has it");
      } else if (!doneIfThere.contains(one.at.get())) {
        byServer.computeIfAbsent(one.at.get().server(), any -> new ArrayList<>()).add(one);
      }
    }
    Round round = new Round();
    try (WorkerPool pool = connection.runtime().pool("compact-table", SERVERS_AT_ONCE)) {
      FanOut.eachIo(
          connection.runtime(),
          pool,
          SERVERS_AT_ONCE,
          byServer.entrySet(),
          server -> ask(server.getKey(), server.getValue(), round),
          what());
    }
    for (Map.Entry<ServerId, String> failure : round.failures.entrySet()) {
      servers.forget();
      for (Left one : byServer.getOrDefault(failure.getKey(), List.of())) {
        trouble(one, failure.getValue());
        one.mayHaveMoved = true;
      }
    }
    for (Answer answer : round.answers) {
      note(answer.tablet(), answer.text());
    }
    left.values().removeIf(one -> one.isDone);
    for (Left one : round.whole) {
      one.at.ifPresent(doneIfThere::add);
    }
  }

  private void trouble(Left tablet, String why) {
    tablet.trouble = why;
    if (tablet.patience.isEmpty()) {
      tablet.patience = Optional.of(Deadline.after(connection.runtime(), connection.timeout()));
    }
  }

  @GuardedBy("this")
  private void note(Left tablet, TabletCompactionProto answer) {
    if (!answer.hasCompaction()) {
      tablet.mayHaveMoved = true;
      tablet.compaction = OptionalLong.empty();
      trouble(tablet, "server " + tablet.at.orElseThrow().server() + " does not have it now");
      return;
    }
    tablet.mayHaveMoved = false;
    tablet.compaction = OptionalLong.of(answer.getCompaction());
    if (answer.getDone()) {
      tablet.isDone = true;
      done.add(ByteStrings.range(answer.getStartRow(), answer.getEndRow()));
    } else if (answer.hasTrouble()) {
      trouble(tablet, answer.getTrouble());
    } else {
      tablet.trouble = "";
      tablet.patience = Optional.empty();
    }
  }

  /** Whether a tablet that is left may be elsewhere, or another by now. */
  @GuardedBy("this")
  private boolean mustReadAgain() {
    return !doneIfThere.isEmpty()
        || left.values().stream().anyMatch(one -> one.mayHaveMoved || one.at.isEmpty());
  }

  /** Reads where the tablets are with rows that are not compacted. */
  @GuardedBy("this")
  private void read() throws IOException {
    if (!calls.stored(name).id().equals(table)) {
      throw SteleException.notFound("table " + name + " was dropped, and another one created");
    }
    long begun = connection.runtime().nanoTime();
    List<TabletRecord> all = connection.tabletRecords(table, name);
    Duration took = Duration.ofNanos(connection.runtime().nanoTime() - begun);
    readAgain = Optional.of(Deadline.after(connection.runtime(), took.multipliedBy(READ_PART)));
    for (TabletRecord tablet : all) {
      if (tablet.location().isPresent() && doneIfThere.contains(tablet.location().get())) {
        done.add(tablet.extent());
      }
    }
    doneIfThere.clear();
    RowRanges compacted = done.isEmpty() ? new RowRanges(List.of()) : RowRanges.of(done);
    Map<TabletId, Left> before = new HashMap<>(left);
    left.clear();
    tablets = all.size();
    for (TabletRecord tablet : all) {
      RowRange rows = tablet.extent();
      if (!compacted.within(rows).ranges().equals(List.of(rows))) {
        left.put(tablet.id(), left(tablet, Optional.ofNullable(before.get(tablet.id()))));
      }
    }
    done.clear();
    done.addAll(compacted.ranges());
  }

  private static Left left(TabletRecord tablet, Optional<Left> before) {
    Left now = new Left(tablet.location());
    if (before.isPresent()) {
      now.trouble = before.get().trouble;
      now.patience = before.get().patience;
      if (before.get().at.equals(now.at)) {
        now.compaction = before.get().compaction;
      }
    }
    return now;
  }

  private void ask(ServerId server, List<Left> tablets, Round round) throws IOException {
    try {
      if (knowsTablets(server, tablets, round)) {
        return;
      }
      compactWhole(server);
      round.whole.addAll(tablets);
    } catch (IOException | SteleException e) {
      if (!ClusterCalls.mayPass(e)) {
        throw e;
      }
      round.failures.put(server, "asking server " + server + " failed: " + e.getMessage());
    }
  }

  /**
   * Asks about tablets; false if the server is of an earlier version, and knows no such request.
   */
  private boolean knowsTablets(ServerId server, List<Left> tablets, Round round)
      throws IOException {
    try {
      for (int i = 0; i < tablets.size(); i += TABLETS_AT_ONCE) {
        askSome(server, tablets.subList(i, Math.min(tablets.size(), i + TABLETS_AT_ONCE)), round);
      }
      return true;
    } catch (RemoteException e) {
      if (!RpcNoSuchMethodException.class.getName().equals(e.getClassName())) {
        throw e;
      }
      return false;
    }
  }

  private void askSome(ServerId server, List<Left> some, Round round) throws IOException {
    CompactTabletsRequestProto.Builder request = CompactTabletsRequestProto.newBuilder();
    for (Left one : some) {
      TabletToCompactProto.Builder tablet =
          TabletToCompactProto.newBuilder().setTablet(ClusterCalls.ref(one.at.orElseThrow()));
      one.compaction.ifPresent(tablet::setCompaction);
      request.addTablets(tablet);
    }
    CompactTabletsRequestProto whole = request.build();
    List<TabletCompactionProto> answers =
        servers.call(server, one -> one.compactTablets(null, whole)).getTabletsList();
    for (int i = 0; i < answers.size(); i++) {
      round.answers.add(new Answer(some.get(i), answers.get(i)));
    }
  }

  /** Has a server of an earlier version compact all that it has of the table. */
  private void compactWhole(ServerId server) throws IOException {
    CompactTableRequestProto request =
        CompactTableRequestProto.newBuilder().setTableId(table.value()).build();
    Address control = ClusterCalls.require(ClusterCalls.servers(connection), server).control();
    connection
        .controlPlane()
        .call(
            control,
            TabletServerProtocol.class,
            WHOLE_TIMEOUT,
            one -> one.compactTable(null, request));
  }
}
