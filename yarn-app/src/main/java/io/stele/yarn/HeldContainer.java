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
 * @param marks what was noted of it besides
 */
record HeldContainer(String id, SlotId slot, String node, Phase phase, Instant since, Marks marks) {
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

  /**
   * What the lock service says of the process in a container.
   *
   * @param startedUp whether it has had its lock since it began, or some master the masters' if it
   *     is one
   * @param withoutLock for how long it, which is to have a lock, has had none, or none of the
   *     masters if it is one: zero if that was seen only once; empty if it has one. No time counts
   *     in which the lock service did not answer
   * @param draining whether its lock says that it gives its tablets away and takes none: an
   *     operator drains it, or somebody has asked it to end
   * @param read when that was read, at the earliest; empty if this attempt has not asked yet
   */
  record Registration(
      boolean startedUp, Optional<Duration> withoutLock, boolean draining, Optional<Instant> read) {
    static final Registration NONE =
        new Registration(false, Optional.empty(), false, Optional.empty());

    /** Of a process that had its lock when an earlier attempt asked. */
    static final Registration SERVING =
        new Registration(true, Optional.empty(), false, Optional.empty());
  }

  /**
   * What was noted of a container besides its phase.
   *
   * @param registration what the lock service says of its process
   * @param preempted whether YARN is about to take it away, for another queue
   * @param outdated whether it was started with an earlier deployment
   * @param hang how its process hung when it was stopped for that
   * @param runningSince when it began to run
   * @param lastAsked since when each request to end is one to end at once, as its time to drain is
   *     over; empty if the last one was not
   */
  record Marks(
      Registration registration,
      boolean preempted,
      boolean outdated,
      Optional<Hang> hang,
      Optional<Instant> runningSince,
      Optional<Instant> lastAsked) {
    static final Marks NONE =
        new Marks(
            Registration.NONE, false, false, Optional.empty(), Optional.empty(), Optional.empty());

    Marks registration(Registration now) {
      return new Marks(now, preempted, outdated, hang, runningSince, lastAsked);
    }

    Marks preempted(boolean now) {
      return new Marks(registration, now, outdated, hang, runningSince, lastAsked);
    }

    Marks outdated(boolean now) {
      return new Marks(registration, preempted, now, hang, runningSince, lastAsked);
    }

    Marks hang(Optional<Hang> how) {
      return new Marks(registration, preempted, outdated, how, runningSince, lastAsked);
    }

    Marks runningSince(Instant time) {
      return new Marks(registration, preempted, outdated, hang, Optional.of(time), lastAsked);
    }

    Marks lastAsked(Optional<Instant> time) {
      return new Marks(registration, preempted, outdated, hang, runningSince, time);
    }
  }

  /** A container of which nothing has been noted. */
  HeldContainer(String id, SlotId slot, String node, Phase phase, Instant since) {
    this(id, slot, node, phase, since, Marks.NONE);
  }

  HeldContainer in(Phase next, Instant now) {
    return new HeldContainer(id, slot, node, next, now, marks);
  }

  HeldContainer with(Marks others) {
    return new HeldContainer(id, slot, node, phase, since, others);
  }

  /** For how long it has been in its phase. */
  Duration age(Instant now) {
    return Duration.between(since, now);
  }

  /** Whether it is on its way out whatever is wanted of its slot. */
  boolean ending() {
    return phase == Phase.DRAINING || phase == Phase.STOPPING || phase == Phase.RELEASED;
  }

  /** Whether it has had its lock since it began, or some master the masters' if it is one. */
  boolean hasStartedUp() {
    return marks.registration().startedUp();
  }

  /** Whether it has started up and has its lock, or some master the masters' if it is one. */
  boolean hasItsLock() {
    return hasStartedUp() && marks.registration().withoutLock().isEmpty();
  }

  /** Whether its server gives its tablets away and takes none. */
  boolean isDraining() {
    return marks.registration().draining();
  }

  /** Whether what the lock service says of its process was read at {@code time} or later. */
  boolean isReadSince(Instant time) {
    return marks.registration().read().filter(read -> !read.isBefore(time)).isPresent();
  }

  /** For how long it has had no lock; zero if it has one, or need not. */
  Duration withoutLock() {
    return marks.registration().withoutLock().orElse(Duration.ZERO);
  }

  /** Whether its process, which runs, hangs, and how. */
  Optional<Hang> hang(Instant now) {
    if (!hasStartedUp()) {
      return withoutLock().compareTo(START_WAIT) >= 0
          ? Optional.of(Hang.NEVER_STARTED)
          : Optional.empty();
    }
    if (withoutLock().compareTo(LOST_LOCK_WAIT) < 0) {
      return Optional.empty();
    }
    if (slot.kind() != ComponentKind.MASTER) {
      return Optional.of(Hang.LOST_ITS_LOCK);
    }
    boolean mayBeStarting = age(now).compareTo(MASTER_START_WAIT) < 0;
    return mayBeStarting ? Optional.empty() : Optional.of(Hang.LEFT_THE_LOCK_FREE);
  }
}
