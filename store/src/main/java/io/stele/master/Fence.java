package io.stele.master;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.stele.log.LogOwner;
import io.stele.model.ServerId;
import io.stele.runtime.Durations;
import io.stele.runtime.ProcessRuntime;
import io.stele.runtime.Timer;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The fence of one server, step by step: waits until the server's lease is over, takes its log, and
 * revokes its lock if it took that meanwhile. {@link Fences} says why that is enough.
 *
 * <p>Until its lease is over, a server can be spared; after that, never. A step that fails is taken
 * again until it succeeds.
 *
 * <p>Safe for use by any number of threads. It holds its own monitor when it calls {@link
 * Host#after}, and in no other call of its host, the lock service or HDFS.
 */
final class Fence {
  private static final Logger LOG = LoggerFactory.getLogger(Fence.class);
  private static final Duration RETRY = Duration.ofSeconds(2);

  /**
   * How many leases a server may take from its log directory to its first lock: it warms up in
   * between, perhaps on a busy machine.
   */
  private static final int LEASES_TO_START = 10;

  // The clocks of the server and of the master may drift apart by this part of the lease.
  private static final int DRIFT_PARTS = 20;

  /** How far the fencing of a server has come. */
  private enum Stage {
    /** Its lease may still be valid. It is spared if it turns out to be alive. */
    LEASE,
    /** Its log is being taken, so it is no longer spared. */
    LOG,
    /** Its log is taken; its lock is revoked if it has one. */
    REVOKE_LOCK,
    /**
     * It took its lock meanwhile and may have answered under a lease; the master waits until that
     * is over.
     */
    LATE_LEASE
  }

  /** What a fence needs to know of others, and tells them. */
  interface Host {
    /** Has {@link #step} called after {@code delay}, by a thread that may wait. */
    Timer after(Duration delay, Fence fence);

    /** Whether the process of the server was seen to end. */
    boolean hasExited(ServerId server);

    /** The server has its lock now: it is to be spared, unless it cannot be any more. */
    void hasLock(Fence fence);

    /** The lease of the server is over: from now on it is not spared. */
    void leaseOver(ServerId server);

    /** The server can write nothing any more. */
    void fenced(ServerId server);
  }

  private final ProcessRuntime runtime;
  private final ServerLocks locks;
  private final DeadLogs logs;
  private final Host host;
  private final ServerId server;

  /** Another master began it: the server may hold its lock. */
  @GuardedBy("this")
  private boolean byAnother;

  @GuardedBy("this")
  private boolean hadLock;

  /** The longest lease that the server may have. */
  @GuardedBy("this")
  private Duration lease;

  /** When the wait for the server's lease, or for its first lock, ends. */
  @GuardedBy("this")
  private Optional<Long> waitEndNanos = Optional.empty();

  /** No lock of the server was ever seen; it may be about to take its first. */
  @GuardedBy("this")
  private boolean starts;

  /** A lock of the server was taken on suspicion, and its lease has been waited for. */
  @GuardedBy("this")
  private boolean leaseWaited;

  /** The server took its lock late, and that was revoked. */
  @GuardedBy("this")
  private boolean revoked;

  @GuardedBy("this")
  private Stage stage = Stage.LEASE;

  /** The next step. */
  @GuardedBy("this")
  private Optional<Timer> timer = Optional.empty();

  /** The server is spared, or fenced otherwise, or this master ends. */
  @GuardedBy("this")
  private boolean stopped;

  /**
   * A fence that has not begun.
   *
   * @param lease of tablet servers, as far as the master's configuration tells
   */
  Fence(
      ProcessRuntime runtime,
      ServerLocks locks,
      DeadLogs logs,
      Host host,
      ServerId server,
      Duration lease) {
    this.runtime = runtime;
    this.locks = locks;
    this.logs = logs;
    this.host = host;
    this.server = server;
    this.lease = lease;
  }

  /**
   * Begins with the wait for the lease.
   *
   * @param knownLock whether the server is known to have had a lock
   */
  synchronized void begin(boolean knownLock) {
    hadLock = knownLock;
    schedule(Stage.LEASE, Duration.ZERO);
  }

  /** Begins with the log, which another master has renamed. */
  synchronized void complete() {
    byAnother = true;
    hadLock = true;
    schedule(Stage.LOG, Duration.ZERO);
  }

  /** The server is known to have had a lock. If that is new, only its lease is waited for. */
  synchronized void knownToHaveHadLock() {
    if (stage == Stage.LEASE && !hadLock) {
      hadLock = true;
      waitEndNanos = Optional.empty();
      starts = false;
      timer.ifPresent(Timer::cancel);
      schedule(Stage.LEASE, Duration.ZERO);
    }
  }

  /**
   * Ends the fence, unless the server's log is taken, or about to be.
   *
   * @return whether it is ended
   */
  synchronized boolean spare() {
    if (stage != Stage.LEASE) {
      return false;
    }
    stop();
    return true;
  }

  /** Takes no further step. The current one may still be completed. */
  synchronized void stop() {
    stopped = true;
    timer.ifPresent(Timer::cancel);
  }

  /** The server that is fenced. */
  ServerId server() {
    return server;
  }

  /** Whether the server may still answer clients: its lease may be valid. */
  synchronized boolean mayBeLeased() {
    return byAnother || (stage == Stage.LEASE && !starts);
  }

  /** Whether the server may have had tablets. */
  synchronized boolean mayHaveHadTablets() {
    return hadLock || stage != Stage.LEASE;
  }

  /** Takes the next step; if that fails, takes it again later. */
  void step() {
    boolean done = false;
    try {
      takeStep();
      done = true;
    } catch (IOException | RuntimeException e) {
      if (isStopped()) {
        LOG.debug("Tablet server {} is not fenced now", server, e);
      } else {
        LOG.warn("Cannot fence tablet server {} yet; will retry", server, e);
      }
    } finally {
      if (!done) {
        schedule(stage(), RETRY);
      }
    }
  }

  private void takeStep() throws IOException {
    switch (stage()) {
      case LEASE -> {
        if (locks.hasLock(server)) {
          host.hasLock(this);
        } else if (needsWait()) {
          await();
        } else if (commit()) {
          host.leaseOver(server);
          takeLog();
        }
      }
      case LOG -> takeLog();
      case REVOKE_LOCK -> revokeLock();
      case LATE_LEASE -> finish();
    }
  }

  /** Whether the server may be alive and answer, or take its first lock. */
  private boolean needsWait() throws IOException {
    boolean noted = isSuspected();
    synchronized (this) {
      if (starts && noted) {
        waitEndNanos = Optional.empty(); // It has had its first lock: the lease counts now.
      }
      starts = !hadLock && !noted;
      boolean waits =
          (starts || noted) && waitEndNanos.map(end -> end - runtime.nanoTime() > 0).orElse(true);
      leaseWaited = noted && !waits;
      return waits;
    }
  }

  /** Whether the server is suspect; if so, it may have the lease that was noted. */
  private boolean isSuspected() throws IOException {
    if (!locks.isSuspected(server)) {
      return false;
    }
    Duration noted = locks.suspectsLease(server);
    synchronized (this) {
      lease = Durations.max(lease, noted);
    }
    return true;
  }

  /** How long to wait until the lease of the server is certainly over. */
  private synchronized Duration leaseWait() {
    return lease.plus(lease.dividedBy(DRIFT_PARTS));
  }

  /** Several steps may come here: all of them wait for the same moment. */
  private synchronized void await() {
    if (stopped || stage != Stage.LEASE) {
      return; // It was spared, or another step came further.
    }
    long now = runtime.nanoTime();
    if (waitEndNanos.isEmpty()) {
      Duration wait = leaseWait().multipliedBy(starts ? LEASES_TO_START : 1);
      waitEndNanos = Optional.of(now + wait.toNanos());
      LOG.info(
          "Waiting {} for the {} of tablet server {}",
          wait,
          starts ? "first lock" : "lease",
          server);
    }
    long left = waitEndNanos.get() - now;
    schedule(Stage.LEASE, Duration.ofNanos(Math.max(0, left)));
  }

  /**
   * From now on the server is not spared.
   *
   * @return false if it was spared before, or is being fenced already
   */
  private synchronized boolean commit() {
    if (stopped || stage != Stage.LEASE) {
      return false;
    }
    stage = Stage.LOG;
    return true;
  }

  private void takeLog() throws IOException {
    logs.take(server, new Owner());
    isAt(Stage.REVOKE_LOCK);
    revokeLock();
  }

  private void revokeLock() throws IOException {
    if (locks.hasLock(server)) {
      noteRevoked();
      locks.suspect(server);
      isSuspected(); // Its lease is noted now.
      locks.revoke(server);
      schedule(Stage.LATE_LEASE, leaseWait());
    } else if (mayHaveBeenRevoked() && isSuspected()) { // It was: by this master, or another.
      schedule(Stage.LATE_LEASE, leaseWait());
    } else {
      finish();
    }
  }

  private synchronized void noteRevoked() {
    revoked = true;
  }

  /** Whether a lock that the server took late may have been revoked. */
  private synchronized boolean mayHaveBeenRevoked() {
    return revoked || starts || waitEndNanos.isEmpty();
  }

  private void finish() throws IOException {
    locks.forgetSuspicion(server);
    host.fenced(server);
  }

  /** Takes the next step at {@code next}, after {@code delay}. */
  private synchronized void schedule(Stage next, Duration delay) {
    if (stopped) {
      return;
    }
    stage = next;
    timer = Optional.of(host.after(delay, this));
  }

  private synchronized Stage stage() {
    return stage;
  }

  private synchronized void isAt(Stage now) {
    stage = now;
  }

  private synchronized boolean isStopped() {
    return stopped;
  }

  private synchronized boolean hasWaitedForLease() {
    return leaseWaited;
  }

  /** The server while its log is taken. */
  private final class Owner implements LogOwner {
    private OptionalLong lockGoneNanos = OptionalLong.empty(); // When that was seen first.

    @Override
    public boolean hasEnded() {
      return host.hasExited(server);
    }

    /**
     * A server that takes its lock when its log is renamed ends, as it looks for the log after
     * that. So one that has no lock then has lost it, and its lease is over. If a master took the
     * lock on suspicion, the lease lasts on from then at most.
     */
    @Override
    public boolean isWithoutLease() throws IOException {
      if (locks.hasLock(server)) {
        return false;
      }
      long now = runtime.nanoTime();
      if (lockGoneNanos.isEmpty()) {
        lockGoneNanos = OptionalLong.of(now);
      }
      return hasWaitedForLease()
          || !isSuspected()
          || now - lockGoneNanos.getAsLong() >= leaseWait().toNanos();
    }
  }
}
