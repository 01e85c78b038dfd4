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
import java.util.Comparator;
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
import java.util.stream.Stream;
import org.apache.hadoop.ipc.RemoteException;
import org.apache.hadoop.ipc.RpcNoSuchMethodException;

/**
 * Has the servers of a table compact it: each step asks all servers at once, which begin and answer
 * at once, until all rows are in tablets that have made a major compaction since they were first
 * asked. A tablet that has left its server is asked where it is now; so are the halves of one that
 * was split before it was compacted.
 *
 * <p>A server gets all of its tablets at first. Later it is asked about a few of them, those that
 * it was not asked about for longest, and about more as long as these are done.
 *
 * <p>A tablet is stuck when it was in trouble for {@code stele.client.timeout} in all. While it is
 * being compacted, or waits for its turn, it is not in trouble, although it may have failed before.
 *
 * <p>Safe for use by any number of threads; one takes a step at a time.
 */
final class TableCompaction implements ClusterChange.Step {
  private static final int SERVERS_AT_ONCE = 64;
  private static final int TABLETS_AT_ONCE = 1000;

  /** A server compacts one tablet at a time, so few of those that it has begun can be done. */
  private static final int POLLED_AT_ONCE = 100;

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

  @GuardedBy("this")
  private long rounds;

  /** Why METADATA could not be read when that was last tried; empty if it could. */
  @GuardedBy("this")
  private String unread = "";

  /** A tablet that is not compacted yet. */
  private static final class Left {
    final Optional<TabletLocation> at;

    /** Empty until its server has begun. */
    OptionalLong compaction = OptionalLong.empty();

    boolean isDone;

    /** Whether it may be elsewhere by now. */
    boolean mayHaveMoved;

    /** The last round in which its server was asked about it. */
    long asked;

    /** What keeps it from being compacted now; empty if nothing does. */
    String trouble = "";

    /** When it was last seen in trouble, if it is. */
    long troubleSeenNanos;

    /** How long it was in trouble since it last had none at all. */
    Duration troubled = Duration.ZERO;

    Left(Optional<TabletLocation> at) {
      this.at = at;
    }

    void inTrouble(String why, long nowNanos) {
      if (!trouble.isEmpty()) {
        troubled = troubled.plusNanos(nowNanos - troubleSeenNanos);
      }
      trouble = why;
      troubleSeenNanos = nowNanos;
    }

    /** It has failed, and is being compacted again, or waits for its turn. */
    void isTriedAgain() {
      trouble = "";
    }

    void hasNoTrouble() {
      trouble = "";
      troubled = Duration.ZERO;
    }

    boolean isStuck(Duration patience) {
      return !trouble.isEmpty() && troubled.compareTo(patience) >= 0;
    }
  }

  /** What a server has answered about a tablet. */
  private record Answer(Left tablet, TabletCompactionProto text) {}

  /** The answers of one round; for any number of threads. */
  private static final class Round {
    final long number;
    final Queue<Answer> answers = new ConcurrentLinkedQueue<>();

    /** Of servers that have compacted all that they had. */
    final Queue<Left> whole = new ConcurrentLinkedQueue<>();

    final Map<ServerId, String> failures = new ConcurrentHashMap<>();

    Round(long number) {
      this.number = number;
    }
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
      try {
        askAll();
      } catch (SteleException e) {
        if (e.code() == SteleException.Code.NOT_FOUND) { // That is known: the table is gone.
          return ClusterCalls.Progress.failed(e);
        }
        throw e;
      }
      if (left.isEmpty()) {
        return ClusterCalls.Progress.DONE;
      } else if (left.values().stream().allMatch(this::isStuck)) {
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
    return left.values().stream().allMatch(one -> one.compaction.isPresent() || isStuck(one));
  }

  private boolean isStuck(Left tablet) {
    return tablet.isStuck(connection.timeout());
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
    return first
        + (texts.size() > NAMED ? "; and " + (texts.size() - NAMED) + " more" : "")
        + (texts.isEmpty() || unread.isEmpty() ? "" : "; reading METADATA failed: " + unread);
  }

  @GuardedBy("this")
  private void askAll() throws IOException {
    if (readAgain.isEmpty()) {
      read();
    } else if (mustReadAgain() && readAgain.get().isOver()) {
      tryToRead();
    }
    Map<ServerId, List<Left>> byServer = new HashMap<>();
    for (Left one : left.values()) {
      if (one.at.isEmpty()) {
        trouble(one, "no server has it");
      } else if (!doneIfThere.contains(one.at.get())) {
        byServer.computeIfAbsent(one.at.get().server(), any -> new ArrayList<>()).add(one);
      } else if (!unread.isEmpty()) {
        trouble(one, "it is not known whether it has moved");
      }
    }
    rounds++;
    Round round = new Round(rounds);
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
    tablet.inTrouble(why, connection.runtime().nanoTime());
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
    } else if (!answer.hasTrouble()) {
      tablet.hasNoTrouble();
    } else if (answer.getRests()) {
      trouble(tablet, answer.getTrouble());
    } else {
      tablet.isTriedAgain();
    }
  }

  /** Whether a tablet that is left may be elsewhere, or another by now. */
  @GuardedBy("this")
  private boolean mustReadAgain() {
    return !doneIfThere.isEmpty()
        || left.values().stream().anyMatch(one -> one.mayHaveMoved || one.at.isEmpty());
  }

  /**
   * The same as {@link #read}, except that METADATA and the lock service may be away: the servers
   * go on, and those tablets that may be elsewhere are in trouble.
   */
  @GuardedBy("this")
  private void tryToRead() throws IOException {
    try {
      read();
      unread = "";
    } catch (IOException | SteleException e) {
      boolean isGone =
          e instanceof SteleException known && known.code() == SteleException.Code.NOT_FOUND;
      if (isGone || !ClusterCalls.mayPass(e)) {
        throw e;
      }
      unread = e.getMessage() == null ? e.toString() : e.getMessage();
    }
  }

  /**
   * Reads where the tablets are with rows that are not compacted.
   *
   * @throws SteleException NOT_FOUND if the table was dropped
   */
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
      now.troubleSeenNanos = before.get().troubleSeenNanos;
      now.troubled = before.get().troubled;
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
      begin(server, tablets.stream().filter(one -> one.compaction.isEmpty()).toList(), round);
      poll(server, tablets.stream().filter(one -> one.compaction.isPresent()), round);
      return true;
    } catch (RemoteException e) {
      if (!RpcNoSuchMethodException.class.getName().equals(e.getClassName())) {
        throw e;
      }
      return false;
    }
  }

  private void begin(ServerId server, List<Left> tablets, Round round) throws IOException {
    for (int i = 0; i < tablets.size(); i += TABLETS_AT_ONCE) {
      List<Left> some = tablets.subList(i, Math.min(tablets.size(), i + TABLETS_AT_ONCE));
      askSome(server, some, round);
    }
  }

  /** Asks about tablets that the server has begun, until some of those are not done. */
  private void poll(ServerId server, Stream<Left> begun, Round round) throws IOException {
    List<Left> longestAgoFirst =
        begun.sorted(Comparator.comparingLong(tablet -> tablet.asked)).toList();
    boolean allDone = true;
    for (int i = 0; allDone && i < longestAgoFirst.size(); i += POLLED_AT_ONCE) {
      int end = Math.min(longestAgoFirst.size(), i + POLLED_AT_ONCE);
      allDone = askSome(server, longestAgoFirst.subList(i, end), round);
    }
  }

  /** Asks about tablets; returns whether all of them are done. */
  private boolean askSome(ServerId server, List<Left> some, Round round) throws IOException {
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
      some.get(i).asked = round.number;
      round.answers.add(new Answer(some.get(i), answers.get(i)));
    }
    return answers.stream().allMatch(TabletCompactionProto::getDone);
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
