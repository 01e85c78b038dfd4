package io.stele.yarn;

import java.time.Duration;
import java.time.Instant;

/**
 * A container that YARN has given us and not yet reported as ended.
 *
 * @param id YARN's id of it
 * @param slot the slot that it was asked for
 * @param node the name of its node, as in {@link Node}
 * @param since when it entered its phase
 */
record HeldContainer(String id, SlotId slot, String node, Phase phase, Instant since) {
  /**
   * A tablet server that has lost its lock ends within this, unless it hangs. Some master has taken
   * the masters' lock within this.
   */
  static final Duration LOST_LOCK_WAIT = Duration.ofSeconds(60);

  /**
   * A master may take this long to start. It counts as serving from when any master has the lock,
   * and itself waits two minutes for the lock service.
   */
  static final Duration MASTER_START_WAIT = Duration.ofMinutes(3);

  /** What we know of the process in it. */
  enum Phase {
    /** Just given; nothing was started in it. */
    ALLOCATED,
    /** Inherited from the attempt before this one, which may or may not have started it. */
    RECOVERED,
    /** Inherited, and its node has been asked what it does. */
    CHECKING,
    /** Its node has been asked to start it. */
    STARTING,
    RUNNING,
    /** Asked to give its work away and end. */
    DRAINING,
    /** Its node has been asked to kill it. */
    STOPPING,
    /** The ResourceManager has been asked to take it back. */
    RELEASED
  }

  HeldContainer in(Phase next, Instant now) {
    return new HeldContainer(id, slot, node, next, now);
  }

  /** Whether it is on its way out whatever is wanted of its slot. */
  boolean ending() {
    return phase == Phase.DRAINING || phase == Phase.STOPPING || phase == Phase.RELEASED;
  }

  /**
   * Whether its process, which has served, hangs.
   *
   * @param withoutLock for how long it has had no lock, or no master has if it is one
   */
  boolean isHung(Duration withoutLock, Instant now) {
    boolean mayBeStarting =
        slot.kind() == ComponentKind.MASTER
            && Duration.between(since, now).compareTo(MASTER_START_WAIT) < 0;
    return withoutLock.compareTo(LOST_LOCK_WAIT) >= 0 && !mayBeStarting;
  }
}
