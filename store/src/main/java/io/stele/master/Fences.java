package io.stele.master;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.stele.model.ServerId;
import io.stele.runtime.ProcessRuntime;
import io.stele.runtime.Timer;
import io.stele.runtime.WorkerPool;
import java.time.Duration;
import java.util.Map;
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
 * <p>Each {@link Fence} takes its steps on threads of this object, and ends only when the server is
 * fenced or spared. Safe for use by any number of threads; no fence calls this while it holds its
 * own monitor.
 */
final class Fences implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Fences.class);

  /** Each waits, mostly asleep, until HDFS has closed the log of one server. */
  private static final int FENCERS_MAX = 256;

  private final ProcessRuntime runtime;
  private final ServerLocks locks;
  private final DeadLogs logs;
  private final Recoveries recoveries;
  private final Duration lease;
  private final LoopSignal signal;
  private final WorkerPool fencers;
  private final Fence.Host host = new Host();

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
   * @param recoveries told how far each fence has come
   * @param lease of the tablet servers, as far as the master's configuration tells
   * @param signal told when a server became fenced, or is spared
   */
  Fences(
      ProcessRuntime runtime,
      ServerLocks locks,
      DeadLogs logs,
      Recoveries recoveries,
      Duration lease,
      LoopSignal signal) {
    this.runtime = runtime;
    this.locks = locks;
    this.logs = logs;
    this.recoveries = recoveries;
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
      add(server).begin(hadLock);
    } else if (hadLock) {
      begun.knownToHaveHadLock();
    }
  }

  /** Another master renamed the server's log and ended, or is just fencing it. */
  synchronized void complete(ServerId server) {
    Fence begun = fencing.get(server);
    if (closed || fenced.contains(server) || (begun != null && !begun.spare())) {
      return;
    }
    LOG.warn("Tablet server {} was not fenced completely: will do so now", server);
    add(server).complete();
  }

  @GuardedBy("this")
  private Fence add(ServerId server) {
    Fence fence = new Fence(runtime, locks, logs, host, server, lease);
    fencing.put(server, fence);
    recoveries.lost(server);
    return fence;
  }

  /**
   * The server has its lock. It is not fenced now, and if it disappears again, its lease counts
   * from then.
   *
   * @return false if it took its lock too late: its log is taken, or about to be
   */
  synchronized boolean spare(ServerId server) {
    if (fenced.contains(server)) {
      return false;
    }
    Fence begun = fencing.get(server);
    return begun == null || end(begun);
  }

  /** Ends a fence, unless its server can no longer be spared; returns whether it did. */
  @GuardedBy("this")
  private boolean end(Fence fence) {
    if (!fence.spare()) {
      return false;
    }
    fencing.remove(fence.server());
    recoveries.spared(fence.server());
    return true;
  }

  /** What the fences tell and ask. */
  private final class Host implements Fence.Host {
    @Override
    public Timer after(Duration delay, Fence fence) {
      return runtime.after(delay, () -> hand(fence));
    }

    private void hand(Fence fence) {
      try {
        fencers.execute(fence::step);
      } catch (RejectedExecutionException e) {
        LOG.debug("The fences are closed", e);
      }
    }

    @Override
    public boolean hasExited(ServerId server) {
      synchronized (Fences.this) {
        return exits.contains(server);
      }
    }

    @Override
    public void hasLock(Fence fence) {
      synchronized (Fences.this) {
        if (fencing.get(fence.server()) == fence && end(fence)) {
          LOG.info("Tablet server {} has its lock now: it was still starting", fence.server());
        }
      }
      signal.wakeUp();
    }

    @Override
    public void leaseOver(ServerId server) {
      recoveries.leaseOver(server);
    }

    @Override
    public void fenced(ServerId server) {
      synchronized (Fences.this) {
        fencing.remove(server);
        exits.remove(server);
        fenced.add(server);
        recoveries.fenced(server);
      }
      LOG.info("Tablet server {} is fenced", server);
      signal.wakeUp();
    }
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
    fencing.forEach(
        (server, fence) -> {
          if (fence.mayBeLeased()) {
            leased.add(server);
          }
        });
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
    return fencing.values().stream().anyMatch(Fence::mayHaveHadTablets);
  }

  /** Stops fencing; the next master starts it again. */
  @Override
  public void close() {
    synchronized (this) {
      closed = true;
      fencing.values().forEach(Fence::stop);
    }
    fencers.close();
  }
}
