package io.stele.sim;

import io.stele.model.RowRange;
import io.stele.model.ServerId;
import io.stele.model.TabletId;
import io.stele.sim.check.OwnerChecker;
import io.stele.sim.check.Violation;
import io.stele.wire.Response;
import io.stele.wire.data.DataProtos.CheckAndMutateProto;
import io.stele.wire.data.DataProtos.OperationsProto;
import io.stele.wire.data.DataProtos.ReadModifyWriteProto;
import io.stele.wire.data.DataProtos.RequestProto;
import io.stele.wire.data.DataProtos.StatusProto;
import io.stele.wire.data.DataProtos.TabletProto;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The period in which each server answered for each tablet, as the network saw it: when the first
 * and the last of the requests that it answered arrived.
 *
 * <p>The time of the answer does not matter. An answer may be late, when another server has already
 * answered; because the call began before that, its operation may have happened before, too. The
 * same holds for a repeated request: its operation may have happened when the request first
 * arrived.
 */
final class ServiceRecord {
  private final Map<TabletId, Map<String, OwnerChecker.Service>> byTablet = new TreeMap<>();

  private final Map<String, Long> firstArrivals = new HashMap<>(); // Of operations, by service.

  private boolean changesOnly;

  /** Counts only changes from now on: where clocks may stand still, reads may be out of date. */
  void countChangesOnly() {
    changesOnly = true;
  }

  /** A request comes to {@code server}: when what it asks for may have come first. */
  long arrived(SimulatedProcess server, RequestProto request, long nowNanos) {
    return switch (request.getMethodCase()) {
      case CHECK_AND_MUTATE -> {
        CheckAndMutateProto change = request.getCheckAndMutate();
        yield first(
            service(server, change.getTablet()),
            change.getOperations(),
            change.getOperation(),
            nowNanos);
      }
      case READ_MODIFY_WRITE -> {
        ReadModifyWriteProto change = request.getReadModifyWrite();
        yield first(
            service(server, change.getTablet()),
            change.getOperations(),
            change.getOperation(),
            nowNanos);
      }
      case READ, SAMPLE_ROW_KEYS, MUTATE, SETTLE, PING, METHOD_NOT_SET -> nowNanos;
    };
  }

  private long first(String service, OperationsProto client, long operation, long nowNanos) {
    String name =
        service + " " + client.getClientHigh() + " " + client.getClientLow() + " " + operation;
    return firstArrivals.computeIfAbsent(name, unseen -> nowNanos);
  }

  /** A server and the tablet, under one epoch, that it answers for. */
  private static String service(SimulatedProcess server, TabletProto tablet) {
    return server.name() + " " + tablet.getTablet() + " " + tablet.getEpoch();
  }

  /** An answer is leaving {@code server}, to a request that came at {@code arrived}. */
  void answered(SimulatedProcess server, RequestProto request, Response response, long arrived) {
    if (response.status() == StatusProto.OK && !server.isDead()) {
      switch (request.getMethodCase()) {
        case READ -> {
          if (!changesOnly) {
            seen(server, request.getRead().getTablet(), arrived);
          }
        }
        case CHECK_AND_MUTATE -> {
          if (!changesOnly || changes(request.getCheckAndMutate(), response)) {
            seen(server, request.getCheckAndMutate().getTablet(), arrived);
          }
        }
        case READ_MODIFY_WRITE -> seen(server, request.getReadModifyWrite().getTablet(), arrived);
        // A batch may be answered in part; samples may be of any time.
        case SAMPLE_ROW_KEYS, MUTATE, SETTLE, PING, METHOD_NOT_SET -> {}
      }
    }
  }

  /** Whether there were edits to make: otherwise it was only read. */
  private static boolean changes(CheckAndMutateProto request, Response response) {
    return response.header().getMatched()
        ? !request.getIfTrue().isEmpty()
        : !request.getIfFalse().isEmpty();
  }

  private void seen(SimulatedProcess server, TabletProto tablet, long arrived) {
    TabletId id = io.stele.wire.QueryCodec.decode(tablet);
    byTablet
        .computeIfAbsent(id, unseen -> new TreeMap<>())
        .merge(
            service(server, tablet),
            new OwnerChecker.Service(
                new ServerId(server.name(), 1, 0),
                id,
                tablet.getEpoch(),
                RowRange.ALL,
                arrived,
                arrived + 1),
            (first, last) ->
                new OwnerChecker.Service(
                    first.server(),
                    id,
                    first.epoch(),
                    RowRange.ALL,
                    Math.min(first.fromNanos(), last.fromNanos()),
                    Math.max(first.toNanos(), last.toNanos())));
  }

  /** Where two servers answered for a tablet in turns. */
  List<Violation> violations() {
    List<Violation> wrong = new ArrayList<>();
    for (Map<String, OwnerChecker.Service> services : byTablet.values()) {
      wrong.addAll(OwnerChecker.check(List.copyOf(services.values())));
    }
    return wrong;
  }
}
