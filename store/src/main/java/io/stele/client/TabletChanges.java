package io.stele.client;

import io.stele.metadata.Attempts.Effect;
import io.stele.metadata.TabletLocation;
import io.stele.model.Bytes;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.runtime.Deadline;
import io.stele.wire.ByteStrings;
import io.stele.wire.control.ControlProtos.MergeTabletRequestProto;
import io.stele.wire.control.ControlProtos.MoveTabletRequestProto;
import io.stele.wire.control.ControlProtos.MoveTabletResponseProto;
import io.stele.wire.control.ControlProtos.SplitTabletRequestProto;
import java.io.IOException;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Splits, moves and merges of single tablets on request.
 *
 * <p>Safe for use by any number of threads.
 */
final class TabletChanges {
  private static final Duration LOOK = Duration.ofMillis(50);

  private final Connection connection;
  private final ClusterCalls calls;

  TabletChanges(ClusterCalls calls) {
    this.connection = calls.connection();
    this.calls = calls;
  }

  /** See {@link Admin#moveTablet}. */
  ServerId move(String table, Bytes row, Optional<ServerId> to) throws IOException {
    String what = "moving the tablet of table " + table + " with row \"" + row + "\"";
    TabletLocation at = connection.locateAgain(calls.stored(table).id(), row, what);
    MoveTabletRequestProto.Builder request =
        MoveTabletRequestProto.newBuilder().setTablet(ClusterCalls.ref(at));
    to.ifPresent(server -> request.setServerId(server.toString()));
    AtomicReference<MoveTabletResponseProto> last =
        new AtomicReference<>(MoveTabletResponseProto.getDefaultInstance());
    calls.untilDone(
        what,
        "`stele table describe` shows where it is",
        master -> {
          MoveTabletResponseProto answer = master.moveTablet(null, request.build());
          last.set(answer);
          return new ClusterCalls.Progress(answer.getDone(), answer.getWaitsFor());
        });
    return ServerId.parse(Objects.requireNonNull(last.get()).getServerId());
  }

  /** See {@link Admin#splitTablet}. */
  void split(String table, Bytes row) throws IOException {
    String what = "splitting table " + table + " at row \"" + row + "\"";
    TableId id = calls.stored(table).id();
    Deadline deadline = Deadline.after(connection.runtime(), connection.timeout());
    while (true) {
      TabletLocation at = connection.locateAgain(id, row, what);
      if (at.extent().start().equals(row)) {
        return;
      }
      SplitTabletRequestProto request =
          SplitTabletRequestProto.newBuilder()
              .setTablet(ClusterCalls.ref(at))
              .setRow(ByteStrings.of(row))
              .build();
      try {
        calls.call(at.server(), server -> server.splitTablet(null, request));
      } catch (IOException | SteleException e) {
        if (!ClusterCalls.mayPass(e) || deadline.isOver()) {
          throw e;
        }
      }
      if (deadline.isOver()) {
        throw new SteleException(
            SteleException.Code.OUTCOME_UNKNOWN,
            what + ": not done within " + connection.timeout().toMillis() + " ms; it may still be");
      }
      calls.pause(LOOK);
    }
  }

  /** See {@link Admin#mergeTablet}. */
  void merge(String table, Bytes row) throws IOException {
    String what = "merging table " + table + " at row \"" + row + "\"";
    if (row.isEmpty()) {
      throw SteleException.refused(what + ": before the first tablet there is none");
    }
    TableId id = calls.stored(table).id();
    Deadline deadline = Deadline.after(connection.runtime(), connection.timeout());
    while (true) {
      TabletLocation at = connection.locateAgain(id, row, what);
      if (!at.extent().start().equals(row)) {
        return;
      }
      MergeTabletRequestProto request =
          MergeTabletRequestProto.newBuilder().setTablet(ClusterCalls.ref(at)).build();
      String waitsFor =
          calls
              .ask(Effect.CHANGE_WITH_ID, what, master -> master.mergeTablet(null, request))
              .getWaitsFor();
      if (deadline.isOver()) {
        throw new SteleException(
            SteleException.Code.OUTCOME_UNKNOWN,
            what
                + ": not done within "
                + connection.timeout().toMillis()
                + " ms; it may still be: "
                + waitsFor);
      }
      calls.pause(LOOK);
    }
  }
}
