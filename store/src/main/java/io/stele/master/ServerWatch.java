package io.stele.master;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.stele.lock.LockService;
import io.stele.metadata.ServerInfo;
import io.stele.model.ServerId;
import io.stele.runtime.ProcessRuntime;
import io.stele.runtime.Timer;
import io.stele.runtime.WorkerPool;
import java.io.IOException;
import java.time.Duration;
import java.util.Collections;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.Lock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Knows which tablet servers are alive, and which are fenced.
 *
 * <p>A server is alive while it holds its lock. A server that lost its lock is fenced: its log is
 * taken ({@link DeadLogs}). Only then is it among the {@link #fenced()} servers, and its tablets
 * may be given to others. A server that has a log directory or is named by a record, but has no
 * lock, is fenced the same way, whatever happened to it while no master looked.
 *
 * <p><b>Lease.</b> A server that had a lock and lost it no longer answers requests: either it
 * released the lock, or its session expired, and the lease ends before the session ({@link
 * io.stele.lock.Lease}). In two other cases the master first waits until the lease is over. First,
 * a master may have revoked the lock on suspicion; it has recorded this beforehand ({@link
 * ServerLocks#suspect}), for its successors too. Second, a server that no master has seen may be
 * about to take its lock: it has ten leases for that, and is spared if it does so in time. Nothing
 * waits for it: it answers nobody before it has its lock, and as soon as a record names it, it must
 * have had its lock.
 *
 * <p><b>Fences of others.</b> A master that ends while it fences a server leaves a renamed log
 * without a list of its segments. The server may have taken its lock meanwhile; its next segment
 * cannot be created. A later master finds such a log and completes the fence, lock or not.
 *
 * <p>Safe for use by any number of threads.
 */
final class ServerWatch implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ServerWatch.class);
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

  /** A server that is being fenced. The fields are guarded by the watch. */
  private static final class Fencing {
    final ServerId server;
    final boolean byAnother; // Another master began it: the server may hold its lock.
    boolean hadLock;
    Optional<Long> waitEndNanos = Optional.empty(); // Of the wait for its lease, or first lock.
    boolean starts; // No lock of it was ever seen; it may be about to take its first.
    boolean revoked; // It took its lock late, and that was revoked.
    Stage stage = Stage.LEASE;
    Optional<Timer> timer = Optional.empty(); // Of the next step.

    Fencing(ServerId server, boolean hadLock, boolean byAnother) {
      this.server = server;
      this.byAnother = byAnother;
      this.hadLock = hadLock;
    }
  }

  private final ProcessRuntime runtime;
  private final ServerLocks locks;
  private final DeadLogs logs;
  private final Recoveries recoveries;
  private final Duration leaseWait;
  private final Wake wake;
  private final WorkerPool fencers;

  private final Lock refreshing; // Held during the reads, so that looks cannot overtake.

  @GuardedBy("this")
  private Map<ServerId, ServerInfo> live = Map.of(); // Replaced as a whole.

  /** Live servers whose information may have changed since it was read. */
  @GuardedBy("this")
  private final Set<ServerId> outdated = new TreeSet<>();

  @GuardedBy("this")
  private final Map<ServerId, Fencing> fencing = new TreeMap<>();

  @GuardedBy("this")
  private final Set<ServerId> fenced = new TreeSet<>();

  /** Servers that are being fenced, or are about to be, whose processes were seen to end. */
  @GuardedBy("this")
  private final Set<ServerId> exits = new TreeSet<>();

  @GuardedBy("this")
  private boolean closed;

  private final AtomicBoolean unread = new AtomicBoolean(true); // The locks may have changed.

  /**
   * A watch that knows nothing before the first {@link #refresh}.
   *
   * @param lease of the tablet servers
   * @param wake told when a server appeared, disappeared or became fenced
   */
  ServerWatch(ProcessRuntime runtime, LockService locks, DeadLogs logs, Duration lease, Wake wake) {
    this.runtime = runtime;
    this.locks = new ServerLocks(locks);
    this.logs = logs;
    this.recoveries = new Recoveries(runtime);
    this.leaseWait = lease.plus(lease.dividedBy(DRIFT_PARTS));
    this.wake = wake;
    this.fencers = runtime.pool("fencer", FENCERS_MAX);
    this.refreshing = runtime.newLock();
  }

  /**
   * Refreshes the live servers and starts fencing missing ones, if locks changed since the last
   * time; otherwise does nothing.
   *
   * @param full refresh in any case, and look also for log directories of servers never seen
   */
  void look(boolean full) throws IOException {
    if (full || unread.get()) {
      refresh(full);
    }
  }

  /**
   * Refreshes the live servers and starts fencing missing ones. A server's lock is read once, and
   * again only after the server was heard to report something else.
   *
   * @param listLogs whether to look also for log directories of servers never seen
   */
  void refresh(boolean listLogs) throws IOException {
    refreshing.lock();
    boolean done = false;
    try {
      unread.set(false); // Before the reads: locks may change meanwhile.
      Set<ServerId> candidates = new TreeSet<>();
      if (listLogs) {
        candidates.addAll(logs.owners());
      }
      Map<ServerId, ServerInfo> now = locks.read(takeUpToDate());
      if (listLogs) {
        logs.unfinished(now.keySet()).forEach(this::completeFence);
      }
      saw(now, candidates);
      done = true;
    } finally {
      if (!done) {
        unread.set(true);
      }
      refreshing.unlock();
    }
  }

  private synchronized Map<ServerId, ServerInfo> takeUpToDate() {
    Map<ServerId, ServerInfo> known = new TreeMap<>(live);
    known.keySet().removeAll(outdated);
    outdated.clear(); // If a read fails, the server will report again.
    return known;
  }

  /**
   * A server reported whether it gives its tablets away. If that is new, its lock is read again.
   */
  void heard(ServerId server, boolean draining) {
    synchronized (this) {
      ServerInfo known = live.get(server);
      if (known == null || known.draining() == draining) {
        return;
      }
      outdated.add(server);
    }
    unread.set(true);
    wake.look();
  }

  private void saw(Map<ServerId, ServerInfo> now, Set<ServerId> candidates) {
    if (update(now, candidates)) {
      wake.overtake();
    }
  }

  /** Returns whether a server is lost. */
  private synchronized boolean update(Map<ServerId, ServerInfo> now, Set<ServerId> candidates) {
    candidates.addAll(live.keySet());
    for (ServerId server : live.keySet()) {
      if (!now.containsKey(server)) {
        LOG.warn("Tablet server {} has no lock any more: will fence it", server);
      }
    }
    Map<ServerId, ServerInfo> alive = new TreeMap<>();
    for (Map.Entry<ServerId, ServerInfo> server : now.entrySet()) {
      if (!isDoomed(server.getKey())) {
        alive.put(server.getKey(), server.getValue());
      }
    }
    for (ServerId server : alive.keySet()) {
      if (!live.containsKey(server)) {
        LOG.info("Tablet server {} is live", server);
      }
      spare(server); // If it disappears again, its lease counts from then.
    }
    Set<ServerId> before = live.keySet();
    live = Collections.unmodifiableMap(alive);
    candidates.forEach(server -> beginFence(server, before.contains(server)));
    return !alive.keySet().containsAll(before);
  }

  /** Whether the server took its lock too late: its log is taken, or about to be. */
  @GuardedBy("this")
  private boolean isDoomed(ServerId server) {
    Fencing begun = fencing.get(server);
    return fenced.contains(server) || (begun != null && begun.stage != Stage.LEASE);
  }

  /** A record names {@code server}: if the server has no lock, it is fenced. */
  synchronized void named(ServerId server) {
    beginFence(server, true); // Tablets are only assigned to servers that have their locks.
  }

  /** Another master renamed the server's log and ended, or is just fencing it. */
  private synchronized void completeFence(ServerId server) {
    if (isDoomed(server) || closed) {
      return;
    }
    LOG.warn("Tablet server {} was not fenced completely: will do so now", server);
    Optional.ofNullable(fencing.get(server)).flatMap(begun -> begun.timer).ifPresent(Timer::cancel);
    begin(new Fencing(server, true, true), Stage.LOG);
  }

  private synchronized void beginFence(ServerId server, boolean hadLock) {
    if (!closed
        && !live.containsKey(server)
        && !fenced.contains(server)
        && !fencing.containsKey(server)) {
      begin(new Fencing(server, hadLock, false), Stage.LEASE);
      return;
    }
    Fencing begun = fencing.get(server);
    if (hadLock && begun != null && begun.stage == Stage.LEASE && !begun.hadLock) {
      begun.hadLock = true; // Known only now: it has had its first lock.
      begun.waitEndNanos = Optional.empty();
      begun.starts = false;
      begun.timer.ifPresent(Timer::cancel);
      goOn(begun, Stage.LEASE, Duration.ZERO);
    }
  }

  @GuardedBy("this")
  private void begin(Fencing begun, Stage first) {
    fencing.put(begun.server, begun);
    recoveries.lost(begun.server);
    goOn(begun, first, Duration.ZERO);
  }

  /** Takes the next step at {@code stage} after {@code delay}. */
  private synchronized void goOn(Fencing begun, Stage stage, Duration delay) {
    if (closed) {
      return;
    }
    begun.stage = stage;
    begun.timer = Optional.of(runtime.after(delay, () -> hand(begun)));
  }

  private void hand(Fencing begun) {
    try {
      fencers.execute(() -> step(begun));
    } catch (RejectedExecutionException e) {
      LOG.debug("The watch is closed", e);
    }
  }

  private void step(Fencing begun) {
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
        goOn(begun, stage(begun), RETRY);
      }
    }
  }

  private void takeStep(Fencing begun) throws IOException {
    switch (stage(begun)) {
      case LEASE -> {
        if (locks.hasLock(begun.server)) {
          spare(begun);
          wake.look();
        } else if (needsWait(begun)) {
          await(begun);
        } else if (doom(begun)) {
          takeLog(begun);
        }
      }
      case LOG -> takeLog(begun);
      case REVOKE_LOCK -> revokeLock(begun);
      case LATE_LEASE -> complete(begun);
    }
  }

  /** Whether the server may be alive and answer, or take its first lock. */
  private boolean needsWait(Fencing begun) throws IOException {
    boolean noted = locks.isSuspected(begun.server);
    synchronized (this) {
      begun.starts = !begun.hadLock && !noted;
      return (begun.starts || noted)
          && begun.waitEndNanos.map(end -> end - runtime.nanoTime() > 0).orElse(true);
    }
  }

  /** Several steps may come here for one fence: all of them wait for the same moment. */
  private synchronized void await(Fencing begun) {
    if (fencing.get(begun.server) != begun || begun.stage != Stage.LEASE) {
      return; // It was spared, or another step came further.
    }
    long now = runtime.nanoTime();
    if (begun.waitEndNanos.isEmpty()) {
      Duration wait = begun.starts ? leaseWait.multipliedBy(LEASES_TO_START) : leaseWait;
      begun.waitEndNanos = Optional.of(now + wait.toNanos());
      LOG.info(
          "Waiting {} for the {} of tablet server {}",
          wait,
          begun.starts ? "first lock" : "lease",
          begun.server);
    }
    long left = begun.waitEndNanos.get() - now;
    goOn(begun, Stage.LEASE, Duration.ofNanos(Math.max(0, left)));
  }

  private synchronized boolean isClosed() {
    return closed;
  }

  private synchronized Stage stage(Fencing begun) {
    return begun.stage;
  }

  /**
   * Marks the server as no longer spared.
   *
   * @return false if it was spared before, or is being fenced already
   */
  private synchronized boolean doom(Fencing begun) {
    if (fencing.get(begun.server) != begun || begun.stage != Stage.LEASE) {
      return false;
    }
    begun.stage = Stage.LOG;
    recoveries.leaseOver(begun.server);
    return true;
  }

  private void takeLog(Fencing begun) throws IOException {
    logs.take(begun.server, () -> hasExited(begun.server));
    synchronized (this) {
      begun.stage = Stage.REVOKE_LOCK;
    }
    revokeLock(begun);
  }

  private synchronized boolean hasExited(ServerId server) {
    return exits.contains(server);
  }

  private void revokeLock(Fencing begun) throws IOException {
    if (locks.hasLock(begun.server)) {
      begun.revoked = true;
      locks.suspect(begun.server);
      locks.revoke(begun.server);
      goOn(begun, Stage.LATE_LEASE, leaseWait);
    } else if ((begun.revoked || begun.starts || begun.waitEndNanos.isEmpty())
        && locks.isSuspected(begun.server)) { // It was revoked: by this master, or another.
      goOn(begun, Stage.LATE_LEASE, leaseWait);
    } else {
      complete(begun);
    }
  }

  private void complete(Fencing begun) throws IOException {
    locks.forgetSuspicion(begun.server);
    synchronized (this) {
      fencing.remove(begun.server);
      exits.remove(begun.server);
      fenced.add(begun.server);
      recoveries.fenced(begun.server);
    }
    LOG.info("Tablet server {} is fenced", begun.server);
    wake.look();
  }

  private synchronized void spare(Fencing begun) {
    if (fencing.get(begun.server) == begun) { // Otherwise its log was found to be renamed.
      LOG.info("Tablet server {} has its lock now: it was still starting", begun.server);
      spare(begun.server);
    }
  }

  /** The server is alive: it is not fenced now. */
  private synchronized void spare(ServerId server) {
    Fencing begun = fencing.remove(server);
    if (begun != null) {
      begun.timer.ifPresent(Timer::cancel);
      recoveries.spared(server);
    }
  }

  /** A server's process was seen to end on its node: no wait is needed. */
  void exited(ServerId server) throws IOException {
    synchronized (this) {
      if (!fenced.contains(server)) {
        exits.add(server);
      }
    }
    locks.revoke(server);
    unread.set(true);
    wake.look();
  }

  /**
   * Treats a server as dead though it may be alive: revokes its lock, and waits until its lease is
   * over.
   */
  void suspected(ServerId server) throws IOException {
    locks.suspect(server);
    locks.revoke(server);
    if (isFenced(server)) { // Nobody waits for its lease any more.
      locks.forgetSuspicion(server);
    }
    unread.set(true);
    wake.look();
  }

  private synchronized boolean isFenced(ServerId server) {
    return fenced.contains(server);
  }

  /**
   * The locks changed: checks at once which servers are alive, so that no time is lost while the
   * loop is busy.
   */
  void locksChanged() {
    try {
      refresh(false);
    } catch (IOException e) {
      LOG.info("Cannot read the tablet servers' locks now; will retry: {}", e.toString());
    }
    wake.look();
  }

  /** The servers that hold their locks. */
  synchronized Map<ServerId, ServerInfo> live() {
    return live;
  }

  /**
   * The servers that may answer clients.
   *
   * @param live those that hold their locks
   * @param leased those that do not hold their locks, or may not, and whose leases may still be
   *     valid: they receive no more messages
   */
  record Answering(Map<ServerId, ServerInfo> live, Set<ServerId> leased) {}

  /**
   * All such servers at one moment: a server that loses or takes its lock just then is not missed.
   */
  synchronized Answering answering() {
    return new Answering(live, leased());
  }

  @GuardedBy("this")
  private Set<ServerId> leased() {
    Set<ServerId> leased = new TreeSet<>();
    for (Fencing begun : fencing.values()) {
      if (begun.byAnother || (begun.stage == Stage.LEASE && !begun.starts)) {
        leased.add(begun.server);
      }
    }
    return leased;
  }

  /** The servers that can no longer write anything. */
  synchronized Set<ServerId> fenced() {
    return new TreeSet<>(fenced);
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
