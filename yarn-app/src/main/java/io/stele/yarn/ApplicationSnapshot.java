package io.stele.yarn;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * A snapshot of everything that {@link Planner} needs for its decisions.
 *
 * @param wanted how many components of each kind to keep running
 * @param stopping whether everything must end
 * @param containers the containers that YARN has given us
 * @param asks the containers that we have requested from YARN
 * @param nodes the nodes that YARN reports as alive; empty when not known yet
 * @param history what is remembered of slots
 * @param provenKinds kinds of which some process has kept running
 * @param stopRanks in which order tablet servers end when all is stopped: a container after those
 *     of a lower rank; empty while not known
 * @param limits times and counts to decide by
 */
record ApplicationSnapshot(
    Instant now,
    Map<ComponentKind, Integer> wanted,
    boolean stopping,
    List<HeldContainer> containers,
    List<Ask> asks,
    List<Node> nodes,
    Map<SlotId, SlotHistory> history,
    Set<ComponentKind> provenKinds,
    Optional<Map<String, Integer>> stopRanks,
    Limits limits) {

  /**
   * @param nodeWait how long a named node is waited for
   * @param drainTimeout how long a drained process may take to end
   * @param failuresMax failures after which an application that has never run fails
   * @param memoryMb the container size of each kind
   */
  record Limits(
      Duration nodeWait,
      Duration drainTimeout,
      int failuresMax,
      Map<ComponentKind, Long> memoryMb) {
    Limits {
      memoryMb = Map.copyOf(memoryMb);
    }
  }

  ApplicationSnapshot {
    wanted = Map.copyOf(wanted);
    containers = List.copyOf(containers);
    asks = List.copyOf(asks);
    nodes = List.copyOf(nodes);
    history = Map.copyOf(history);
    provenKinds = Set.copyOf(provenKinds);
  }

  /** Whether the slot is to be filled. */
  boolean wants(SlotId slot) {
    return !stopping && slot.index() <= wanted.getOrDefault(slot.kind(), 0);
  }

  SlotHistory historyOf(SlotId slot) {
    return history.getOrDefault(slot, SlotHistory.NEW);
  }
}
