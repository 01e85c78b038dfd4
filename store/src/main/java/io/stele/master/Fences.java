package io.stele.master;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.stele.log.LogOwner;
import io.stele.model.ServerId;
import io.stele.runtime.Durations;
import io.stele.runtime.ProcessRuntime;
import io.stele.runtime.Timer;
import io.stele.runtime.WorkerPool;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.RejectedExecutionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Fences servers that have no locks: waits until their leases are over, and takes their logs
 * ({@link DeadLogs}). Only then is a server among the {@link #fenced()} ones, and its tablets may
 * be given to others.
 *
 * <p><b>Lease.</b> A server that had a lock and lost it no longer answers requests: either it
 * released the lock, or its session expired, and the lease ends before the session ({@link
 * io.stele.lock.Lease}). In two other cases the master first waits until the lease is over. First,
 * a master may have revoked the lock on suspicion; it has recorded this beforehand ({@link
 * ServerLocks#suspect}), for its successors too. Second, a server that no master has seen may be
 * about to take its lock: it has ten leases for that, and is spared if it does so in time. Nothing
 * waits for it: it answers nobody before it has its lock, and as soon as a record names it, it must
 * have had its lock. The lease is taken to be as long as the master's configuration or the server's
 * lock says, whichever is longer.
 *
 * <p><b>Fences of others.</b> A master that ends while it fences a server leaves a renamed log
 * without a list of its segments. The server may have taken its lock meanwhile; its next segment
 * cannot be created. A later master finds such a log and completes the fence, lock or not.
 *
 * <p>Each fence takes its steps on threads of this object. It retries each step until that
 * succeeds, and ends only when the server is fenced or spared. Safe for use by any number of
 * threads.
 */
final class Fences implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Fences.class);
  private static final Duration RETRY = Duration.ofSeconds(2);

  /**
   * How many leases a server may take from its log directory to its first lock: it warms up in
   * between, perhaps on a busy machine.
   */
  private static final int LEASES_TO_START = 10;

  // The clocks of the server and of the master may drift apart by this part of the lease.
  private static final int DRIFT_PARTS = 20;

  /** Each waits, mostly asleep, until HDFS has closed the log of one server. */
  private static final int FENCERS_MAX = 256;

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

  /** The fence of one server. The fields are guarded by the fences. */
  private static final class Fence {
    final ServerId server;
    final boolean byAnother; // Another master began it: the server may hold its lock.
    boolean hadLock;
    Duration lease; // The longest that it may have.
    Optional<Long> waitEndNanos = Optional.empty(); // Of the wait for its lease, or first lock.
    boolean starts; // No lock of it was ever seen; it may be about to take its first.
    boolean leaseWaited; // A lock of it was taken on suspicion, and its lease has been waited for.
    boolean revoked; // It took its lock late, and that was revoked.
    Stage stage = Stage.LEASE;
    Optional<Timer> timer = Optional.empty(); // Of the next step.

    Fence(ServerId server, Duration lease, boolean hadLock, boolean byAnother) {
      this.server = server;
      this.lease = lease;
      this.byAnother = byAnother;
      this.hadLock = hadLock;
    }
  }

  private final ProcessRuntime runtime;
  private final ServerLocks locks;
  private final DeadLogs logs;
  private final Recoveries recoveries;
  private final Duration lease;
  private final LoopSignal signal;
  private final WorkerPool fencers;

  @GuardedBy("this")
  private final Map<ServerId, Fence> fencing = new TreeMap<>();

  @GuardedBy("this")
  private final Set<ServerId> fenced = new TreeSet<>();

  /** Servers that are being fenced, or are about to be, whose processes were seen to end. */
  @GuardedBy("this")
  private final Set<ServerId> exits = new TreeSet<>();

  @GuardedBy("this")
  private boolean closed;

  /**
   * No fences yet.
   *
   * @param lease of the tablet servers, as far as the master's configuration tells
   * @param signal told when a server became fenced, or is spared
   */
  Fences(
      ProcessRuntime runtime, ServerLocks locks, DeadLogs logs, Duration lease, LoopSignal signal) {
    this.runtime = runtime;
    this.locks = locks;
    this.logs = logs;
    this.recoveries = new Recoveries(runtime);
    this.lease = lease;
    this.signal = signal;
    this.fencers = runtime.pool("fencer", FENCERS_MAX);
  }

  /**
   * Begins to fence a server that has no lock, unless it is fenced or being fenced.
   *
   * @param hadLock whether it is known to have had a lock
   */
  synchronized void begin(ServerId server, boolean hadLock) {
    if (closed || fenced.contains(server)) {
      return;
    }
    Fence begun = fencing.get(server);
    if (begun == null) {
      begin(new Fence(server, lease, hadLock, false), Stage.LEASE);
    } else if (hadLock && begun.stage == Stage.LEASE && !begun.hadLock) {
      begun.hadLock = true; // Known only now: it has had its first lock.
      begun.waitEndNanos = Optional.empty();
      begun.starts = false;
      begun.timer.ifPresent(Timer::cancel);
      schedule(begun, Stage.LEASE, Duration.ZERO);
    }
  }

  /** Another master renamed the server's log and ended, or is just fencing it. */
  synchronized void complete(ServerId server) {
    if (isDoomed(server) || closed) {
      return;
    }
    LOG.warn("Tablet server {} was not fenced completely: will do so now", server);
    Optional.ofNullable(fencing.get(server)).flatMap(begun -> begun.timer).ifPresent(Timer::cancel);
    begin(new Fence(server, lease, true, true), Stage.LOG);
  }

  /**
   * The server has its lock. It is not fenced now, and if it disappears again, its lease counts
   * from then.
   *
   * @return false if it took its lock too late: its log is taken, or about to be
   */
  synchronized boolean spare(ServerId server) {
    if (isDoomed(server)) {
      return false;
    }
    remove(server);
    return true;
  }

  @GuardedBy("this")
  private boolean isDoomed(ServerId server) {
    Fence begun = fencing.get(server);
    return fenced.contains(server) || (begun != null && begun.stage != Stage.LEASE);
  }

  @GuardedBy("this")
  private void remove(ServerId server) {
    Fence begun = fencing.remove(server);
    if (begun != null) {
      begun.timer.ifPresent(Timer::cancel);
      recoveries.spared(server);
    }
  }

  @GuardedBy("this")
  private void begin(Fence begun, Stage first) {
    fencing.put(begun.server, begun);
    recoveries.lost(begun.server);
    schedule(begun, first, Duration.ZERO);
  }

  /** Takes the next step at {@code stage} after {@code delay}. */
  private synchronized void schedule(Fence begun, Stage stage, Duration delay) {
    if (closed) {
      return;
    }
    begun.stage = stage;
    begun.timer = Optional.of(runtime.after(delay, () -> hand(begun)));
  }

  private void hand(Fence begun) {
    try {
      fencers.execute(() -> step(begun));
    } catch (RejectedExecutionException e) {
      LOG.debug("The fences are closed", e);
    }
  }

  private void step(Fence begun) {
    boolean done = false;
    try {
      takeStep(begun);
      done = true;
    } catch (IOException | RuntimeException e) {
      if (isClosed()) {
        LOG.debug("This master stops; the next one will fence {}", begun.server, e);
      } else {
        LOG.warn("Cannot fence tablet server {} yet; will retry", begun.server, e);
      }
    } finally {
      if (!done) {
        schedule(begun, stage(begun), RETRY);
      }
    }
  }

  private void takeStep(Fence begun) throws IOException {
    switch (stage(begun)) {
      case LEASE -> {
        if (locks.hasLock(begun.server)) {
          spare(begun);
          signal.wakeUp();
        } else if (needsWait(begun)) {
          await(begun);
        } else if (doom(begun)) {
          takeLog(begun);
        }
      }
      case LOG -> takeLog(begun);
      case REVOKE_LOCK -> revokeLock(begun);
      case LATE_LEASE -> finish(begun);
    }
  }

  private synchronized void spare(Fence begun) {
    if (fencing.get(begun.server) == begun) { // Otherwise its log was found to be renamed.
      LOG.info("Tablet server {} has its lock now: it was still starting", begun.server);
      remove(begun.server);
    }
  }

  /** Whether the server may be alive and answer, or take its first lock. */
  private boolean needsWait(Fence begun) throws IOException {
    boolean noted = isSuspected(begun);
    synchronized (this) {
      if (begun.starts && noted) {
        begun.waitEndNanos = Optional.empty(); // It has had its first lock: the lease counts now.
      }
      begun.starts = !begun.hadLock && !noted;
      boolean waits =
          (begun.starts || noted)
              && begun.waitEndNanos.map(end -> end - runtime.nanoTime() > 0).orElse(true);
      begun.leaseWaited = noted && !waits;
      return waits;
    }
  }

  /** Whether the server is suspect; if so, it may have the lease that was noted. */
  private boolean isSuspected(Fence begun) throws IOException {
    if (!locks.isSuspected(begun.server)) {
      return false;
    }
    Duration noted = locks.suspectsLease(begun.server);
    synchronized (this) {
      begun.lease = Durations.max(begun.lease, noted);
    }
    return true;
  }

  /** How long to wait until the lease of the server is certainly over. */
  private synchronized Duration leaseWait(Fence begun) {
    return begun.lease.plus(begun.lease.dividedBy(DRIFT_PARTS));
  }

  /** Several steps may come here for one fence: all of them wait for the same moment. */
  private synchronized void await(Fence begun) {
    if (fencing.get(begun.server) != begun || begun.stage != Stage.LEASE) {
      return; // It was spared, or another step came further.
    }
    long now = runtime.nanoTime();
    if (begun.waitEndNanos.isEmpty()) {
      Duration wait = leaseWait(begun).multipliedBy(begun.starts ? LEASES_TO_START : 1);
      begun.waitEndNanos = Optional.of(now + wait.toNanos());
      LOG.info(
          "Waiting {} for the {} of tablet server {}",
          wait,
          begun.starts ? "first lock" : "lease",
          begun.server);
    }
    long left = begun.waitEndNanos.get() - now;
    schedule(begun, Stage.LEASE, Duration.ofNanos(Math.max(0, left)));
  }

  private synchronized boolean isClosed() {
    return closed;
  }

  private synchronized Stage stage(Fence begun) {
    return begun.stage;
  }

  /**
   * Marks the server as no longer spared.
   *
   * @return false if it was spared before, or is being fenced already
   */
  private synchronized boolean doom(Fence begun) {
    if (fencing.get(begun.server) != begun || begun.stage != Stage.LEASE) {
      return false;
    }
    begun.stage = Stage.LOG;
    recoveries.leaseOver(begun.server);
    return true;
  }

  private void takeLog(Fence begun) throws IOException {
    logs.take(begun.server, new Owner(begun));
    synchronized (this) {
      begun.stage = Stage.REVOKE_LOCK;
    }
    revokeLock(begun);
  }

  /** A server while its log is taken. */
  private final class Owner implements LogOwner {
    private final Fence begun;
    private OptionalLong lockGoneNanos = OptionalLong.empty(); // When that was seen first.

    Owner(Fence begun) {
      this.begun = begun;
    }

    @Override
    public boolean hasEnded() {
      return hasExited(begun.server);
    }

    /**
     * A server that takes its lock when its log is renamed ends, as it looks for the log after
     * that. So one that has no lock then has lost it, and its lease is over. If a master took the
     * lock on suspicion, the lease lasts on from then at most.
     */
    @Override
    public boolean isWithoutLease() throws IOException {
      if (locks.hasLock(begun.server)) {
        return false;
      }
      long now = runtime.nanoTime();
      if (lockGoneNanos.isEmpty()) {
        lockGoneNanos = OptionalLong.of(now);
      }
      return hasWaitedForLease(begun)
          || !isSuspected(begun)
          || now - lockGoneNanos.getAsLong() >= leaseWait(begun).toNanos();
    }
  }

  private synchronized boolean hasExited(ServerId server) {
    return exits.contains(server);
  }

  private synchronized boolean hasWaitedForLease(Fence begun) {
    return begun.leaseWaited;
  }

  private void revokeLock(Fence begun) throws IOException {
    if (locks.hasLock(begun.server)) {
      begun.revoked = true;
      locks.suspect(begun.server);
      isSuspected(begun); // Its lease is noted now.
      locks.revoke(begun.server);
      schedule(begun, Stage.LATE_LEASE, leaseWait(begun));
    } else if ((begun.revoked || begun.starts || begun.waitEndNanos.isEmpty())
        && isSuspected(begun)) { // It was revoked: by this master, or another.
      schedule(begun, Stage.LATE_LEASE, leaseWait(begun));
    } else {
      finish(begun);
    }
  }

  private void finish(Fence begun) throws IOException {
    locks.forgetSuspicion(begun.server);
    synchronized (this) {
      fencing.remove(begun.server);
      exits.remove(begun.server);
      fenced.add(begun.server);
      recoveries.fenced(begun.server);
    }
    LOG.info("Tablet server {} is fenced", begun.server);
    signal.wakeUp();
  }

  /** A server's process was seen to end on its node: its log need not be closed. */
  synchronized void exited(ServerId server) {
    if (!fenced.contains(server)) {
      exits.add(server);
    }
  }

  /** The servers that are fenced, or whose processes were seen to end. */
  synchronized Set<ServerId> ended() {
    Set<ServerId> ended = new TreeSet<>(fenced);
    ended.addAll(exits);
    return ended;
  }

  /**
   * Forgets servers of which nothing is left: no log, no lock and no record that names them. If one
   * turns up all the same, it is fenced as by a new master, which knows no more.
   */
  synchronized void forget(Set<ServerId> ended) {
    for (ServerId server : ended) {
      if (!fencing.containsKey(server)) {
        fenced.remove(server);
        exits.remove(server);
      }
    }
  }

  /**
   * The servers being fenced that may still answer clients: their leases may be valid. They receive
   * no more messages.
   */
  synchronized Set<ServerId> leased() {
    Set<ServerId> leased = new TreeSet<>();
    for (Fence begun : fencing.values()) {
      if (begun.byAnother || (begun.stage == Stage.LEASE && !begun.starts)) {
        leased.add(begun.server);
      }
    }
    return leased;
  }

  /** The servers that can no longer write anything, as far as anything is left of them. */
  synchronized Set<ServerId> fenced() {
    return new TreeSet<>(fenced);
  }

  /** Whether the server can no longer write anything. */
  synchronized boolean isFenced(ServerId server) {
    return fenced.contains(server);
  }

  /** Whether some server is being fenced that may have had tablets. */
  synchronized boolean isFencing() {
    return fencing.values().stream().anyMatch(one -> one.hadLock || one.stage != Stage.LEASE);
  }

  /** The logs of the fenced servers. */
  DeadLogs logs() {
    return logs;
  }

  /** How long the tablets of dead servers were unserved. */
  Recoveries recoveries() {
    return recoveries;
  }

  /** Stops fencing; the next master starts it again. */
  @Override
  public void close() {
    synchronized (this) {
      closed = true;
      fencing.values().forEach(begun -> begun.timer.ifPresent(Timer::cancel));
    }
    fencers.close();
  }
}
