package io.stele.yarn;

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
}
