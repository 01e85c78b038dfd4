package io.stele.yarn;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A snapshot of everything that {@link Planner} needs for its decisions: those of the parts of
 * {@link ApplicationState}, each of which has its own, and the containers.
 *
 * @param orders what operators want
 * @param containers the containers that YARN has given us
 * @param slots what is known of the slots beside their containers
 * @param nodes what is known of the nodes
 * @param limits times and counts to decide by
 */
record ApplicationSnapshot(
    Instant now,
    Orders.Snapshot orders,
    List<HeldContainer> containers,
    Slots.Snapshot slots,
    KnownNodes.Snapshot nodes,
    Limits limits) {

  /** A master that has run this long can be elected: which of several serves is not known. */
  static final Duration STANDBY_AFTER = Duration.ofSeconds(30);

  /** In a stop each server has this long to drain, even if the servers before it were slow. */
  private static final Duration DRAIN_LEAST = Duration.ofSeconds(5);

  /** One that was asked to end at once as its time to drain was over has this long. */
  static final Duration LAST_ASKED_WAIT = Duration.ofSeconds(10);

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
    /** In this time a new attempt starts, and reads what the last one has saved. */
    private static final Duration ATTEMPT_START = Duration.ofMinutes(5);

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
     * Within this after an attempt was last answered by YARN, the next one acts, if YARN runs and
     * has room for it: YARN waits for twice the time for which an attempt acts without an answer.
     */
    Duration nextAttemptWithin() {
      return answerAge.multipliedBy(2).plus(ATTEMPT_START);
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
    return orders.stop().isPresent();
  }

  /** Whether the slot is to be filled. */
  boolean wants(SlotId slot) {
    return !stopping() && slot.index() <= orders.countOf(slot.kind());
  }

  /** Until when a container that drains may take. */
  Instant drainUntil(HeldContainer container) {
    Optional<Instant> stopBy = orders.stop().flatMap(Orders.Stop::by);
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
    Instant since = orders.wantedSince().getOrDefault(container.slot().kind(), container.since());
    Instant tooManySince = since.isAfter(container.since()) ? since : container.since();
    return tooManySince.plus(limits.replacementWait(Optional.empty()));
  }

  /**
   * Whether another of its kind may end because this one is there: it is up, and takes tablets if
   * it is a tablet server. One that an operator drains takes none; whether one is drained is not
   * known before this attempt has asked.
   */
  boolean canTakeOver(HeldContainer container) {
    return isUp(container)
        && !container.isDraining()
        && container.marks().registration().read().isPresent();
  }

  /**
   * Whether its process has started up and is not about to end, as far as is known. That some
   * master has the lock says nothing of this one, so a master must have had time to start.
   */
  boolean isUp(HeldContainer container) {
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

  /**
   * Whether a tablet server that drains, and need not end in time, is to end although it could not
   * give its tablets away, now that its time is over: another can take over, and a master has it do
   * so; or it serves none. The lock service must have said so since the time was over: an operator
   * may have drained the other while this one drained.
   *
   * @param others those that do not end now
   */
  boolean isToEndUndrained(HeldContainer container, Stream<HeldContainer> others) {
    if (!isDrainTimeOver(container) || !container.hasItsLock()) {
      return isDrainTimeOver(container);
    }
    Instant over = drainUntil(container);
    List<HeldContainer> seen = others.filter(other -> other.isReadSince(over)).toList();
    return someMasterServes(seen.stream()) && !isLastThatServes(container, seen.stream());
  }

  /** Whether a container that drains has had its time. */
  boolean isDrainTimeOver(HeldContainer container) {
    return !now.isBefore(drainUntil(container));
  }

  /** Whether some master has the masters' lock, as far as is known. */
  boolean hasMaster() {
    return someMasterServes(containers.stream());
  }

  private static boolean someMasterServes(Stream<HeldContainer> those) {
    return those.anyMatch(one -> one.slot().kind() == ComponentKind.MASTER && one.hasItsLock());
  }

  /** Whether an operator wants none of its kind, or YARN would end it by itself before long. */
  boolean mustEndInTime(HeldContainer container) {
    return stopping()
        || orders.countOf(container.slot().kind()) == 0
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
