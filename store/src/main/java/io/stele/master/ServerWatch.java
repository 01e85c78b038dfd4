package io.stele.master;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.stele.metadata.ServerInfo;
import io.stele.model.ServerId;
import io.stele.runtime.ProcessRuntime;
import java.io.IOException;
import java.util.Collections;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.Lock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Watches the locks of the tablet servers: a server is alive while it holds its lock.
 *
 * <p>A server that lost its lock is fenced ({@link Fences}). A server that has a log directory or
 * is named by a record, but has no lock, is fenced the same way, whatever happened to it while no
 * master looked. One that takes its lock after its log was taken does not become live.
 *
 * <p>Safe for use by any number of threads.
 */
final class ServerWatch {
  private static final Logger LOG = LoggerFactory.getLogger(ServerWatch.class);

  private final ServerLocks locks;
  private final Fences fences;
  private final DeadLogs logs;
  private final LoopSignal signal;
  private final StepGuard guard;

  private final Lock refreshing; // Held during the reads, so that none overtakes another.

  @GuardedBy("this")
  private Map<ServerId, ServerInfo> live = Map.of(); // Replaced as a whole.

  /** Live servers whose information may have changed since it was read. */
  @GuardedBy("this")
  private final Set<ServerId> outdated = new TreeSet<>();

  /** Fenced servers without log and lock, when that was last looked for. */
  @GuardedBy("this")
  private Set<ServerId> gone = Set.of();

  private final AtomicBoolean unread = new AtomicBoolean(true); // The locks may have changed.

  /**
   * A watch that knows nothing before the first {@link #refresh}.
   *
   * @param fences of the servers that have no lock
   * @param logs by which servers are found that were never seen
   * @param signal told when a server appeared or disappeared
   * @param guard of the step that is overtaken when a server is lost
   */
  ServerWatch(
      ProcessRuntime runtime,
      ServerLocks locks,
      Fences fences,
      DeadLogs logs,
      LoopSignal signal,
      StepGuard guard) {
    this.locks = locks;
    this.fences = fences;
    this.logs = logs;
    this.signal = signal;
    this.guard = guard;
    this.refreshing = runtime.newLock();
  }

  /** Makes a {@link #refresh} if locks changed since the last one. */
  void refreshIfChanged() throws IOException {
    if (unread.get()) {
      refresh();
    }
  }

  /**
   * Refreshes the live servers and starts fencing missing ones. A server's lock is read once, and
   * again only after the server was heard to report something else.
   */
  void refresh() throws IOException {
    refresh(false);
  }

  /** Makes a {@link #refresh} that also finds servers never seen, by their log directories. */
  void refreshWithLogs() throws IOException {
    refresh(true);
  }

  private void refresh(boolean listLogs) throws IOException {
    refreshing.lock();
    boolean done = false;
    try {
      unread.set(false); // Before the reads: locks may change meanwhile.
      Set<ServerId> ended = fences.ended(); // Before the lists: a log goes from one to the other.
      Set<ServerId> candidates = new TreeSet<>();
      if (listLogs) {
        candidates.addAll(logs.owners());
      }
      Map<ServerId, ServerInfo> now = locks.read(takeUpToDate());
      if (listLogs) {
        Set<ServerId> renamed = logs.renamed();
        logs.unfinished(renamed, now.keySet()).forEach(fences::complete);
        ended.removeAll(candidates);
        ended.removeAll(renamed);
        ended.removeAll(now.keySet());
        areGone(ended);
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

  private synchronized void areGone(Set<ServerId> ended) {
    gone = ended;
  }

  /**
   * Forgets the fenced servers of which the last {@link #refreshWithLogs} has found neither log nor
   * lock.
   *
   * @param named the servers that records name, which are kept
   */
  void forgetAllBut(Set<ServerId> named) {
    Set<ServerId> forgotten;
    synchronized (this) {
      forgotten = new TreeSet<>(gone);
      gone = Set.of();
    }
    forgotten.removeAll(named);
    fences.forget(forgotten);
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
    signal.wakeUp();
  }

  private void saw(Map<ServerId, ServerInfo> now, Set<ServerId> candidates) {
    if (update(now, candidates)) {
      guard.overtake();
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
      if (fences.spare(server.getKey())) {
        alive.put(server.getKey(), server.getValue());
      }
    }
    for (ServerId server : alive.keySet()) {
      if (!live.containsKey(server)) {
        LOG.info("Tablet server {} is live", server);
      }
    }
    Set<ServerId> before = live.keySet();
    live = Collections.unmodifiableMap(alive);
    candidates.forEach(server -> beginFence(server, before.contains(server)));
    return !alive.keySet().containsAll(before);
  }

  /** A record names {@code server}: if the server has no lock, it is fenced. */
  synchronized void named(ServerId server) {
    beginFence(server, true); // Tablets are only assigned to servers that have their locks.
  }

  @GuardedBy("this")
  private void beginFence(ServerId server, boolean hadLock) {
    if (!live.containsKey(server)) {
      fences.begin(server, hadLock);
    }
  }

  /** A server's process was seen to end on its node: no wait is needed. */
  void exited(ServerId server) throws IOException {
    fences.exited(server);
    locks.revoke(server);
    unread.set(true);
    signal.wakeUp();
  }

  /**
   * Treats a server as dead though it may be alive: revokes its lock, and waits until its lease is
   * over.
   */
  void suspected(ServerId server) throws IOException {
    locks.suspect(server);
    locks.revoke(server);
    if (fences.isFenced(server)) { // Nobody waits for its lease any more.
      locks.forgetSuspicion(server);
    }
    unread.set(true);
    signal.wakeUp();
  }

  /**
   * The locks changed: checks at once which servers are alive, so that no time is lost while the
   * loop is busy.
   */
  void locksChanged() {
    try {
      refresh();
    } catch (IOException e) {
      LOG.info("Cannot read the tablet servers' locks now; will retry: {}", e.toString());
    }
    signal.wakeUp();
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
    return new Answering(live, fences.leased());
  }

  /** The fences of the servers that do not hold their locks. */
  Fences fences() {
    return fences;
  }
}
