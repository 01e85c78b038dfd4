package io.stele.client;

import io.stele.metadata.Attempts;
import io.stele.metadata.ServerInfo;
import io.stele.metadata.TabletLocation;
import io.stele.model.Amount;
import io.stele.model.Bytes;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.wire.ByteStrings;
import io.stele.wire.control.ControlProtos.BalanceRequestProto;
import io.stele.wire.control.ControlProtos.BalanceResponseProto;
import io.stele.wire.control.ControlProtos.DrainRequestProto;
import io.stele.wire.control.ControlProtos.MergeTabletRequestProto;
import io.stele.wire.control.ControlProtos.MergeTabletResponseProto;
import io.stele.wire.control.ControlProtos.MoveTabletRequestProto;
import io.stele.wire.control.ControlProtos.MoveTabletResponseProto;
import io.stele.wire.control.ControlProtos.SplitTabletRequestProto;
import java.io.IOException;
import java.time.Duration;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;

/**
 * Makes the requests for changes of tablets and servers.
 *
 * <p>Safe for use by any number of threads.
 */
final class ClusterChangeRequests {
  private static final Duration AGAIN = Duration.ofMillis(50);
  private static final String SEE_TABLETS = "`stele table describe` shows the tablets";
  private static final String SEE_SERVERS = "`stele server list` shows what servers have";

  private final Connection connection;
  private final ClusterCalls calls;

  ClusterChangeRequests(ClusterCalls calls) {
    this.connection = calls.connection();
    this.calls = calls;
  }

  /** See {@link Admin#moveTablet}. */
  ClusterChange move(String table, Bytes row, Optional<ServerId> to) throws IOException {
    String what = "moving the tablet of table " + table + " with row \"" + row + "\"";
    TableId id = calls.stored(table).id();
    return move(what, new Move(id, row, to, what, connection.locateAgain(id, row, what)));
  }

  /** A move of a tablet that was just read from METADATA. */
  ClusterChange move(TabletLocation from, ServerId to) {
    String what = "moving tablet " + from.tablet() + " to " + to;
    TableId table = from.tablet().table();
    return move(what, new Move(table, from.extent().start(), Optional.of(to), what, from));
  }

  private ClusterChange move(String what, Move move) {
    return new ClusterChange(calls, what, "`stele table describe` shows where it is", move);
  }

  /** Asks for a move of the tablet that has a row. */
  private final class Move implements ClusterChange.Step {
    private final TableId table;
    private final Bytes row;
    private final Optional<ServerId> to;
    private final String what;
    private volatile TabletLocation from;

    Move(TableId table, Bytes row, Optional<ServerId> to, String what, TabletLocation from) {
      this.table = table;
      this.row = row;
      this.to = to;
      this.what = what;
      this.from = from;
    }

    @Override
    public ClusterCalls.Progress take(Attempts attempts) throws IOException {
      while (true) {
        TabletLocation moving = from;
        MoveTabletRequestProto.Builder request =
            MoveTabletRequestProto.newBuilder().setTablet(ClusterCalls.ref(moving));
        to.ifPresent(server -> request.setServerId(server.toString()));
        MoveTabletRequestProto whole = request.build();
        MoveTabletResponseProto answer =
            calls.ask(attempts, master -> master.moveTablet(null, whole));
        if (answer.getDone()) {
          return ClusterCalls.Progress.doneAt(ServerId.parse(answer.getServerId()));
        } else if (!answer.getNotBegun()) {
          return ClusterCalls.Progress.waiting(answer.getWaitsFor());
        } else if (attempts.deadline().isOver()) {
          throw SteleException.retryLater(what + ": " + answer.getWaitsFor());
        }
        calls.pause(AGAIN);
        TabletLocation now = connection.locateAgain(table, row, what);
        if (!now.tablet().equals(moving.tablet())) { // It was split or merged.
          if (to.isEmpty() && !now.server().equals(moving.server())) {
            return ClusterCalls.Progress.doneAt(now.server()); // After it had moved.
          }
          from = now; // What has the row now is still to be moved.
        }
      }
    }
  }

  /** See {@link Admin#splitTablet}. */
  ClusterChange split(String table, Bytes row) throws IOException {
    String what = "splitting table " + table + " at row \"" + row + "\"";
    TableId id = calls.stored(table).id();
    return new ClusterChange(
        calls, what, SEE_TABLETS, attempts -> askForSplit(id, row, what, attempts));
  }

  private ClusterCalls.Progress askForSplit(TableId id, Bytes row, String what, Attempts attempts)
      throws IOException {
    while (true) {
      TabletLocation at = connection.locateAgain(id, row, what);
      if (at.extent().start().equals(row)) {
        return ClusterCalls.Progress.DONE;
      }
      SplitTabletRequestProto request =
          SplitTabletRequestProto.newBuilder()
              .setTablet(ClusterCalls.ref(at))
              .setRow(ByteStrings.of(row))
              .build();
      if (calls.askOnce(attempts, at.server(), server -> server.splitTablet(null, request))) {
        return ClusterCalls.Progress.waiting("server " + at.server() + " has yet to split it");
      }
    }
  }

  /** See {@link Admin#mergeTablet}. */
  ClusterChange merge(String table, Bytes row) throws IOException {
    String what = "merging table " + table + " at row \"" + row + "\"";
    if (row.isEmpty()) {
      throw SteleException.refused(what + ": before the first tablet there is none");
    }
    TableId id = calls.stored(table).id();
    String request = HexFormat.of().toHexDigits(connection.runtime().random().nextLong());
    return new ClusterChange(
        calls,
        what,
        SEE_TABLETS,
        attempts -> {
          while (true) {
            TabletLocation at = connection.locateAgain(id, row, what);
            if (!at.extent().start().equals(row)) {
              return ClusterCalls.Progress.DONE;
            }
            Optional<ClusterCalls.Progress> begun = askForMerge(at, request, attempts);
            if (begun.isPresent()) {
              return begun.get();
            }
            calls.pause(AGAIN);
          }
        });
  }

  /** Empty if the master has begun nothing yet. */
  private Optional<ClusterCalls.Progress> askForMerge(
      TabletLocation at, String id, Attempts attempts) throws IOException {
    MergeTabletRequestProto request =
        MergeTabletRequestProto.newBuilder().setTablet(ClusterCalls.ref(at)).setRequest(id).build();
    try {
      MergeTabletResponseProto answer =
          calls.ask(attempts, master -> master.mergeTablet(null, request));
      if (!answer.getNotBegun()) {
        return Optional.of(ClusterCalls.Progress.waiting(answer.getWaitsFor()));
      } else if (attempts.deadline().isOver()) {
        throw SteleException.retryLater(
            "merging tablet " + at.tablet() + " with the one before: " + answer.getWaitsFor());
      }
      return Optional.empty();
    } catch (SteleException e) {
      if (e.code() != SteleException.Code.REFUSED) {
        throw e;
      }
      return Optional.of(ClusterCalls.Progress.failed(e));
    }
  }

  /** See {@link Admin#compactTable}. */
  ClusterChange compact(String table) throws IOException {
    return new ClusterChange(
        calls,
        "compacting table " + table,
        "`stele table compact` can be run again: it joins what goes on",
        new TableCompaction(calls, calls.stored(table).id(), table));
  }

  /** See {@link Admin#drainServer}. */
  ClusterChange drain(ServerId server) {
    return new ClusterChange(calls, "draining server " + server, SEE_SERVERS, new Drain(server));
  }

  /** Asks once for the draining of a server, and then how far it is. */
  private final class Drain implements ClusterChange.Step {
    private final ServerId server;

    // The server's lock has said so. Once set it stays.
    private volatile boolean seen;

    Drain(ServerId server) {
      this.server = server;
    }

    @Override
    public ClusterCalls.Progress take(Attempts attempts) throws IOException {
      if (!attempts.haveBegun()) {
        requireAnother(server);
      }
      beginDrain(server, DrainRequestProto.newBuilder().setStay(true).build(), attempts);
      // Before the master is asked: what it says then is not older.
      ServerInfo lock = ClusterCalls.servers(connection).get(server);
      if (lock != null && !lock.draining() && seen) {
        return ClusterCalls.Progress.failed(undone(server));
      }
      seen |= lock != null && lock.draining();
      return left(server, StatusReader.read(calls, attempts));
    }
  }

  private static SteleException undone(ServerId server) {
    return SteleException.refused(
        "draining server "
            + server
            + ": somebody has undone it (`stele server drain --undo`): it takes tablets again. Some"
            + " may have moved");
  }

  /** Refuses to drain the only server that takes tablets: it could give them to nobody. */
  private void requireAnother(ServerId server) throws IOException {
    Map<ServerId, ServerInfo> servers = ClusterCalls.servers(connection);
    boolean takesTablets = servers.containsKey(server) && !servers.get(server).draining();
    if (takesTablets && servers.values().stream().filter(any -> !any.draining()).count() == 1) {
      throw SteleException.refused(
          "draining server "
              + server
              + ": no other server takes tablets: "
              + ClusterStatus.START_ANOTHER);
    }
  }

  /** Not again once it has begun: the server may have ended since, or somebody have undone it. */
  private void beginDrain(ServerId server, DrainRequestProto request, Attempts attempts)
      throws IOException {
    if (attempts.haveBegun()) {
      return;
    }
    try {
      calls.ask(attempts, server, one -> one.drain(null, request));
    } catch (SteleException e) {
      boolean gone = !ClusterCalls.servers(connection).containsKey(server);
      if (!attempts.mayHaveBegun() || !gone) {
        throw e; // Otherwise only the answer was lost, and the server has drained and ended.
      }
    }
    attempts.begun();
  }

  /** What is still to come of a drain. */
  static ClusterCalls.Progress left(ServerId server, ClusterStatus status) {
    Optional<ClusterStatus.Server> now =
        status.servers().stream().filter(one -> one.id().equals(server)).findFirst();
    if (now.isEmpty()) {
      return served(status);
    }
    if (!now.get().draining()) { // The master has not heard of the drain yet.
      return ClusterCalls.Progress.waiting(
          "the server has yet to begin, or the master to hear of it");
    }
    int tablets = now.get().tablets();
    return ClusterCalls.Progress.of(tablets == 0, "it still has " + Amount.of(tablets, "tablet"));
  }

  /** What is still to come of a server that has ended: others must serve its tablets. */
  private static ClusterCalls.Progress served(ClusterStatus status) {
    long left = status.unassigned() - quarantined(status);
    return ClusterCalls.Progress.of(
        left <= 0,
        "it has ended, and "
            + Amount.of(left, "tablet")
            + (left == 1 ? " is" : " are")
            + " not served yet");
  }

  /** See {@link Admin#restartServer}. */
  ClusterChange restart(ServerId server) throws IOException {
    long wanted = StatusReader.read(calls).takers();
    DrainRequestProto request = DrainRequestProto.getDefaultInstance();
    return new ClusterChange(
        calls,
        "restarting server " + server,
        "`stele server list` and `stele status` show its progress",
        attempts -> {
          beginDrain(server, request, attempts);
          return left(server, wanted, StatusReader.read(calls, attempts));
        });
  }

  /** What is still to come of a restart. */
  static ClusterCalls.Progress left(ServerId server, long wanted, ClusterStatus now) {
    if (now.servers().stream().anyMatch(one -> one.id().equals(server))) {
      return ClusterCalls.Progress.waiting(
          "it still has tablets, or is ending. If it cannot give them away, it tries again, until"
              + " `stele server drain --undo`");
    }
    if (now.takers() < wanted) {
      return ClusterCalls.Progress.waiting("it has ended, and its replacement has not started yet");
    }
    return served(now);
  }

  /** How many tablets are not served until an operator releases them. */
  private static long quarantined(ClusterStatus status) {
    return status.troubled().stream()
        .filter(tablet -> tablet.quarantined() && !tablet.served())
        .count();
  }

  /** See {@link Admin#balanceNow}. */
  ClusterChange balance() {
    return new ClusterChange(calls, "balancing tablets", SEE_SERVERS, new BalanceNow());
  }

  /** Asks for a balancing of all tablets, again if another master knows nothing of it. */
  private final class BalanceNow implements ClusterChange.Step {
    private volatile String run = ""; // Empty before it is known.

    @Override
    public ClusterCalls.Progress take(Attempts attempts) throws IOException {
      String mine = run;
      BalanceResponseProto answer = ask(attempts, mine.isEmpty() && !attempts.haveBegun());
      // A run of another id was begun after this one, so it is as good.
      boolean isUnknown = (answer.hasRun() || !mine.isEmpty()) && answer.getRun().isEmpty();
      if (isUnknown) {
        answer = ask(attempts, true);
      }
      attempts.begun();
      run = answer.getRun();
      return answer.getStopped()
          ? ClusterCalls.Progress.failed(
              SteleException.refused(
                  "balancing tablets: it was turned off meanwhile (`stele balance off`). Some tablets"
                      + " may have moved; the others stay"))
          : ClusterCalls.Progress.of(
              !answer.getNowInProgress(), answer.getMoving() + " tablets are being moved");
    }

    private BalanceResponseProto ask(Attempts attempts, boolean now) throws IOException {
      BalanceRequestProto request = BalanceRequestProto.newBuilder().setNow(now).build();
      return calls.ask(attempts, master -> master.balance(null, request));
    }
  }
}
