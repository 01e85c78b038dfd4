package io.stele.sim;

import io.stele.model.RowRange;
import io.stele.model.ServerId;
import io.stele.model.TabletId;
import io.stele.sim.check.OwnerChecker;
import io.stele.sim.check.Violation;
import io.stele.wire.Response;
import io.stele.wire.data.DataProtos.CheckAndMutateProto;
import io.stele.wire.data.DataProtos.RequestProto;
import io.stele.wire.data.DataProtos.StatusProto;
import io.stele.wire.data.DataProtos.TabletProto;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * From when to when each server answered for each tablet, as the network saw it: from the first
 * answer that left to the last.
 */
final class ServiceRecord {
  private final Simulation simulation;
  private final Map<TabletId, Map<String, OwnerChecker.Service>> byTablet = new TreeMap<>();

  private boolean changesOnly;

  ServiceRecord(Simulation simulation) {
    this.simulation = simulation;
  }

  /** Counts only changes from now on: where clocks may stand still, reads may be out of date. */
  void countChangesOnly() {
    changesOnly = true;
  }

  /** An answer is leaving {@code server}. */
  void answered(SimulatedProcess server, RequestProto request, Response response) {
    if (response.status() == StatusProto.OK && !server.isDead()) {
      switch (request.getMethodCase()) {
        case READ -> {
          if (!changesOnly) {
            seen(server, request.getRead().getTablet());
          }
        }
        case CHECK_AND_MUTATE -> {
          if (!changesOnly || changes(request.getCheckAndMutate(), response)) {
            seen(server, request.getCheckAndMutate().getTablet());
          }
        }
        case READ_MODIFY_WRITE -> seen(server, request.getReadModifyWrite().getTablet());
        // A batch may be answered in part; samples may be of any time.
        case SAMPLE_ROW_KEYS, MUTATE, PING, METHOD_NOT_SET -> {}
      }
    }
  }

  /** Whether there were edits to make: otherwise it was only read. */
  private static boolean changes(CheckAndMutateProto request, Response response) {
    return response.header().getMatched()
        ? !request.getIfTrue().isEmpty()
        : !request.getIfFalse().isEmpty();
  }

  private void seen(SimulatedProcess server, TabletProto tablet) {
    TabletId id = io.stele.wire.QueryCodec.decode(tablet);
    long now = simulation.nowNanos();
    byTablet
        .computeIfAbsent(id, unseen -> new TreeMap<>())
        .merge(
            server.name() + " " + tablet.getEpoch(),
            new OwnerChecker.Service(
                new ServerId(server.name(), 1, 0),
                id,
                tablet.getEpoch(),
                RowRange.ALL,
                now,
                now + 1),
            (first, last) ->
                new OwnerChecker.Service(
                    first.server(),
                    id,
                    first.epoch(),
                    RowRange.ALL,
                    first.fromNanos(),
                    last.toNanos()));
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
