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
 * @param goal what operators want
 * @param containers the containers that YARN has given us
 * @param slots what is known of the slots beside their containers
 * @param nodes what is known of the nodes
 * @param limits times and counts to decide by
 */
record ApplicationSnapshot(
    Instant now,
    Goal goal,
    List<HeldContainer> containers,
    Slots slots,
    Nodes nodes,
    Limits limits) {

  /** A master that has run this long can be elected: which of several serves is not known. */
  static final Duration STANDBY_AFTER = Duration.ofSeconds(30);

  /** In a stop each server has this long to drain, even if the servers before it were slow. */
  private static final Duration DRAIN_LEAST = Duration.ofSeconds(5);

  /**
   * What operators want.
   *
   * @param wanted how many components of each kind to keep running
   * @param wantedSince since when it is that many, of the kinds for which an operator has changed
   *     it
   * @param stop how everything must end; empty if it need not
   */
  record Goal(
      Map<ComponentKind, Integer> wanted,
      Map<ComponentKind, Instant> wantedSince,
      Optional<Stop> stop) {
    Goal {
      wanted = Map.copyOf(wanted);
      wantedSince = Map.copyOf(wantedSince);
    }

    /** How many of the kind are wanted while not everything is to end. */
    int countOf(ComponentKind kind) {
      return wanted.getOrDefault(kind, 0);
    }
  }

  /**
   * How everything ends.
   *
   * @param by until when servers may drain; empty if each has the time that is configured
   * @param ranks in which order tablet servers end: a container after those of a lower rank; empty
   *     while not known
   */
  record Stop(Optional<Instant> by, Optional<Map<String, Integer>> ranks) {
    Stop {
      ranks = ranks.map(Map::copyOf);
    }
  }

  /**
   * What is known of the slots.
   *
   * @param asks the containers that we have requested from YARN
   * @param withoutHeadroom those for which YARN refuses a container, or has had no room for a while
   * @param history what is remembered of each
   * @param provenKinds kinds of which some process has served and kept running
   */
  record Slots(
      List<Ask> asks,
      Set<SlotId> withoutHeadroom,
      Map<SlotId, SlotHistory> history,
      Set<ComponentKind> provenKinds) {
    Slots {
      asks = List.copyOf(asks);
      withoutHeadroom = Set.copyOf(withoutHeadroom);
      history = Map.copyOf(history);
      provenKinds = Set.copyOf(provenKinds);
    }
  }

  /**
   * What is known of the nodes.
   *
   * @param alive those that YARN reports as alive; empty when not known yet
   * @param drainBy when what runs on a node that leaves must begin to drain, by node
   */
  record Nodes(List<Node> alive, Map<String, Instant> drainBy) {
    Nodes {
      alive = List.copyOf(alive);
      drainBy = Map.copyOf(drainBy);
    }

    /** Whether YARN wants the node to be left. */
    boolean isLeaving(String name) {
      return alive.stream().anyMatch(node -> node.leaving() && node.name().equals(name));
    }
  }

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
    containers = List.copyOf(containers);
  }

  /** Whether everything must end. */
  boolean stopping() {
    return goal.stop().isPresent();
  }

  /** Whether the slot is to be filled. */
  boolean wants(SlotId slot) {
    return !stopping() && slot.index() <= goal.countOf(slot.kind());
  }

  /** Until when a container that drains may take. */
  Instant drainUntil(HeldContainer container) {
    Optional<Instant> stopBy = goal.stop().flatMap(Stop::by);
    if (stopBy.isEmpty()) {
      return container.since().plus(limits.drainTimeout());
    }
    Instant least = container.since().plus(DRAIN_LEAST);
    return stopBy.get().isAfter(least) ? stopBy.get() : least;
  }

  /** When what runs on the node, which leaves, must begin to drain. */
  Instant drainBy(String node) {
    return nodes.drainBy().getOrDefault(node, now);
  }

  /** Until when a container that is too many may wait for others of its kind to serve. */
  Instant surplusUntil(HeldContainer container) {
    Instant since = goal.wantedSince().getOrDefault(container.slot().kind(), container.since());
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
        && container.hasItsLock()
        && (container.slot().kind() != ComponentKind.MASTER || isStandby(container));
  }

  private boolean isStandby(HeldContainer master) {
    return master.age(now).compareTo(STANDBY_AFTER) >= 0;
  }

  /**
   * Whether it serves and none of {@code others} can take over from it. Then it goes on however
   * long it takes until another can, unless {@link #mustEndInTime}.
   */
  boolean isLastThatServes(HeldContainer container, Stream<HeldContainer> others) {
    return container.hasItsLock()
        && others.noneMatch(
            other ->
                other.slot().kind() == container.slot().kind()
                    && !other.id().equals(container.id())
                    && !other.marks().preempted()
                    && canTakeOver(other));
  }

  /** Whether an operator wants none of its kind, or YARN would end it by itself before long. */
  boolean mustEndInTime(HeldContainer container) {
    return stopping()
        || goal.countOf(container.slot().kind()) == 0
        || container.marks().preempted()
        || nodes.alive().stream()
            .anyMatch(
                node -> node.name().equals(container.node()) && node.timeToLeave().isPresent());
  }

  /** Whether it keeps running when its time is over, because it is the last. */
  boolean waitsForAnother(HeldContainer container) {
    return !mustEndInTime(container) && isLastThatServes(container, containers.stream());
  }

  SlotHistory historyOf(SlotId slot) {
    return slots.history().getOrDefault(slot, SlotHistory.NEW);
  }
}
