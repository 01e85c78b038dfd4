package io.stele.yarn;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

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

  /**
   * A process that has not started up within this never will: one that waits for HDFS or the lock
   * service ends itself after two minutes. The time includes that in which its node fetches its
   * files, and counts only while the lock service answers.
   */
  static final Duration START_WAIT = Duration.ofMinutes(10);

  /** How a process hangs. */
  enum Hang {
    NEVER_STARTED("it had not started up within " + START_WAIT.toMinutes() + " min"),
    LOST_ITS_LOCK("it had lost its lock and did not end by itself"),
    LEFT_THE_LOCK_FREE("no master had the lock, and it did not take it");

    private final String words;

    Hang(String words) {
      this.words = words;
    }

    /** Why it was stopped, for people. */
    String words() {
      return words;
    }
  }

  /** What we know of the process in it. */
  enum Phase {
    /** Just given; nothing was started in it. */
    ALLOCATED,
    /** The attempt before this one had started it; YARN has yet to tell what has become of it. */
    EXPECTED,
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
   * Whether its process, which runs, hangs, and how.
   *
   * @param served whether it has started up
   * @param withoutLock for how long it has had no lock, or no master has if it is one
   */
  Optional<Hang> hang(boolean served, Duration withoutLock, Instant now) {
    if (!served) {
      return withoutLock.compareTo(START_WAIT) >= 0
          ? Optional.of(Hang.NEVER_STARTED)
          : Optional.empty();
    }
    if (withoutLock.compareTo(LOST_LOCK_WAIT) < 0) {
      return Optional.empty();
    }
    if (slot.kind() != ComponentKind.MASTER) {
      return Optional.of(Hang.LOST_ITS_LOCK);
    }
    boolean mayBeStarting = Duration.between(since, now).compareTo(MASTER_START_WAIT) < 0;
    return mayBeStarting ? Optional.empty() : Optional.of(Hang.LEFT_THE_LOCK_FREE);
  }
}
