package io.stele.yarn;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * A snapshot of everything that {@link Planner} needs for its decisions.
 *
 * @param wanted how many components of each kind to keep running
 * @param wantedSince since when it is that many, of the kinds for which an operator has changed it
 * @param stopping whether everything must end
 * @param stopBy until when servers may drain then; empty if each has the time that is configured
 * @param containers the containers that YARN has given us
 * @param serving those of them whose processes have started up
 * @param preempted those of them that YARN preempts: it is about to take them away, for another
 *     queue
 * @param outdated those of them that were started with an earlier deployment
 * @param withoutLock for how long tablet servers that run have had no lock, and masters while none
 *     had the masters' lock: zero if that was seen only once. Those that hold one are left out, and
 *     no time counts in which the lock service did not answer
 * @param asks the containers that we have requested from YARN
 * @param withoutHeadroom slots for which YARN refuses a container, or has had no room for a while
 * @param nodes the nodes that YARN reports as alive; empty when not known yet
 * @param drainBy when what runs on a node that leaves must begin to drain, by node
 * @param history what is remembered of slots
 * @param provenKinds kinds of which some process has served and kept running
 * @param stopRanks in which order tablet servers end when all is stopped: a container after those
 *     of a lower rank; empty while not known
 * @param limits times and counts to decide by
 */
record ApplicationSnapshot(
    Instant now,
    Map<ComponentKind, Integer> wanted,
    Map<ComponentKind, Instant> wantedSince,
    boolean stopping,
    Optional<Instant> stopBy,
    List<HeldContainer> containers,
    Set<String> serving,
    Set<String> preempted,
    Set<String> outdated,
    Map<String, Duration> withoutLock,
    List<Ask> asks,
    Set<SlotId> withoutHeadroom,
    List<Node> nodes,
    Map<String, Instant> drainBy,
    Map<SlotId, SlotHistory> history,
    Set<ComponentKind> provenKinds,
    Optional<Map<String, Integer>> stopRanks,
    Limits limits) {

  /** A master that has run this long can be elected: which of several serves is not known. */
  static final Duration STANDBY_AFTER = Duration.ofSeconds(30);

  /** In a stop each server has this long to drain, even if the servers before it were slow. */
  private static final Duration DRAIN_LEAST = Duration.ofSeconds(5);

  /** The size of a container. */
  record Size(long memoryMb, int vcores) {
    static final Size NONE = new Size(0, 0);
  }

  /**
   * @param nodeWait how long a named node is waited for
   * @param drainTimeout how long a drained process may take to end
   * @param failuresMax failures after which an application that has never run fails
   * @param answerAge an attempt acts no longer than this after the ResourceManager answered it
   * @param nodeExpiry a node that YARN lists no more for this long is gone with its containers
   * @param sizes the container size of each kind
   */
  record Limits(
      Duration nodeWait,
      Duration drainTimeout,
      int failuresMax,
      Duration answerAge,
      Duration nodeExpiry,
      Map<ComponentKind, Size> sizes) {
    /** A node that may take any time to leave waits for replacements this long. */
    private static final Duration ANY_TIME = Duration.ofMinutes(10);

    Limits {
      sizes = Map.copyOf(sizes);
    }

    /** The size of a container of the kind. */
    Size sizeOf(ComponentKind kind) {
      return sizes.getOrDefault(kind, Size.NONE);
    }

    /**
     * How long what runs on a node that leaves may wait for its replacement: at least half of the
     * node's time, and so long that there is time to drain.
     *
     * @param timeToLeave the node's time; empty if it has any, as what is too many has
     */
    Duration replacementWait(Optional<Duration> timeToLeave) {
      Duration whole = timeToLeave.orElse(ANY_TIME);
      Duration half = whole.dividedBy(2);
      Duration allButDrain = whole.minus(drainTimeout);
      return allButDrain.compareTo(half) > 0 ? allButDrain : half;
    }
  }

  ApplicationSnapshot {
    wanted = Map.copyOf(wanted);
    wantedSince = Map.copyOf(wantedSince);
    containers = List.copyOf(containers);
    serving = Set.copyOf(serving);
    preempted = Set.copyOf(preempted);
    outdated = Set.copyOf(outdated);
    withoutLock = Map.copyOf(withoutLock);
    asks = List.copyOf(asks);
    withoutHeadroom = Set.copyOf(withoutHeadroom);
    nodes = List.copyOf(nodes);
    drainBy = Map.copyOf(drainBy);
    history = Map.copyOf(history);
    provenKinds = Set.copyOf(provenKinds);
  }

  /** Whether the slot is to be filled. */
  boolean wants(SlotId slot) {
    return !stopping && slot.index() <= wanted.getOrDefault(slot.kind(), 0);
  }

  /** Until when a container that drains may take. */
  Instant drainUntil(HeldContainer container) {
    if (stopBy.isEmpty()) {
      return container.since().plus(limits.drainTimeout());
    }
    Instant least = container.since().plus(DRAIN_LEAST);
    return stopBy.get().isAfter(least) ? stopBy.get() : least;
  }

  /** Until when a container that is too many may wait for others of its kind to serve. */
  Instant surplusUntil(HeldContainer container) {
    Instant since = wantedSince.getOrDefault(container.slot().kind(), container.since());
    Instant tooManySince = since.isAfter(container.since()) ? since : container.since();
    return tooManySince.plus(limits.replacementWait(Optional.empty()));
  }

  /**
   * Whether another of its kind may end because this one is there: its process has started up and
   * is not about to end, as far as is known. That some master has the lock says nothing of this
   * one, so a master must have had time to start.
   */
  boolean canTakeOver(HeldContainer container) {
    return container.phase() == HeldContainer.Phase.RUNNING
        && hasItsLock(container)
        && (container.slot().kind() != ComponentKind.MASTER || isStandby(container));
  }

  /** Whether it has started up and has its lock, or some master the masters' if it is one. */
  boolean hasItsLock(HeldContainer container) {
    return hasStartedUp(container) && !withoutLock.containsKey(container.id());
  }

  /** Whether it has had its lock since it began, or some master the masters' if it is one. */
  boolean hasStartedUp(HeldContainer container) {
    return serving.contains(container.id());
  }

  private boolean isStandby(HeldContainer master) {
    return Duration.between(master.since(), now).compareTo(STANDBY_AFTER) >= 0;
  }

  /**
   * Whether it serves and none of {@code others} can take over from it. Then it goes on however
   * long it takes until another can, unless {@link #mustEndInTime}.
   */
  boolean isLastThatServes(HeldContainer container, Stream<HeldContainer> others) {
    return hasItsLock(container)
        && others.noneMatch(
            other ->
                other.slot().kind() == container.slot().kind()
                    && !other.equals(container)
                    && !preempted.contains(other.id())
                    && canTakeOver(other));
  }

  /** Whether an operator wants none of its kind, or YARN would end it by itself before long. */
  boolean mustEndInTime(HeldContainer container) {
    return stopping
        || wanted.getOrDefault(container.slot().kind(), 0) == 0
        || preempted.contains(container.id())
        || nodes.stream()
            .anyMatch(
                node -> node.name().equals(container.node()) && node.timeToLeave().isPresent());
  }

  /** Whether it keeps running when its time is over, because it is the last. */
  boolean waitsForAnother(HeldContainer container) {
    return !mustEndInTime(container) && isLastThatServes(container, containers.stream());
  }

  SlotHistory historyOf(SlotId slot) {
    return history.getOrDefault(slot, SlotHistory.NEW);
  }
}
