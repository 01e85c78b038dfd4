package io.stele.master;

import io.stele.lock.LockPaths;
import io.stele.lock.LockService;
import io.stele.lock.VersionedData;
import io.stele.log.LogFence;
import io.stele.metadata.Layout;
import io.stele.metadata.ServerInfo;
import io.stele.model.ServerId;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.time.Duration;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Which tablet servers live, and which can do no harm any more.
 *
 * <p>A server lives while it holds its lock. One whose lock is gone is fenced: its lease is waited
 * out from the moment that was noticed, then, if the lock is still gone, its log is taken away from
 * it ({@link LogFence}). Only then is it among the {@link #fenced()}, and its tablets may be given
 * to others. A server that has a log directory or is named by a record but has no lock is fenced
 * just so, whatever happened to it while no master looked.
 *
 * <p>Safe for use by any number of threads.
 */
final class ServerWatch implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ServerWatch.class);
  private static final Duration RETRY = Duration.ofSeconds(2);
  // Clocks of the server and of the master may run apart by so much of the lease.
  private static final int DRIFT_PARTS = 20;

  private final LockService locks;
  private final FileSystem fs;
  private final Layout layout;
  private final LogFence fence;
  private final Duration leaseWait;
  private final Wake wake;
  private final ExecutorService fencers;

  private final Object refreshing = new Object();

  // Guarded by this.
  private Map<ServerId, ServerInfo> live = Map.of();
  private final Set<ServerId> fencing = new HashSet<>();
  private final Set<ServerId> withoutLog = new HashSet<>(); // Fenced, or all but.
  private final Set<ServerId> fenced = new HashSet<>();

  /**
   * Nothing is known before the first {@link #refresh}.
   *
   * @param lease of the tablet servers
   * @param wake told when a server came, went or became fenced
   */
  ServerWatch(LockService locks, FileSystem fs, Layout layout, Duration lease, Wake wake) {
    this.locks = locks;
    this.fs = fs;
    this.layout = layout;
    this.fence = new LogFence(fs);
    this.leaseWait = lease.plus(lease.dividedBy(DRIFT_PARTS));
    this.wake = wake;
    this.fencers =
        Executors.newCachedThreadPool(
            task -> {
              Thread thread = new Thread(task, "fencer");
              thread.setDaemon(true);
              return thread;
            });
  }

  /**
   * Looks who lives, and begins to fence who does not any more.
   *
   * @param listLogs whether to look also for log directories of servers never seen
   */
  void refresh(boolean listLogs) throws IOException {
    synchronized (refreshing) {
      look(listLogs);
    }
  }

  private void look(boolean listLogs) throws IOException {
    Set<ServerId> suspects = new HashSet<>();
    if (listLogs) {
      suspects.addAll(serversWithLogs());
    }
    Map<ServerId, ServerInfo> now = ServerInfo.all(locks);
    synchronized (this) {
      suspects.addAll(live.keySet());
      for (ServerId server : live.keySet()) {
        if (!now.containsKey(server)) {
          LOG.warn(
              "Tablet server {} has lost its lock: fencing it after its lease, {} ms",
              server,
              leaseWait.toMillis());
        }
      }
      for (ServerId server : now.keySet()) {
        if (!live.containsKey(server)) {
          LOG.info("Tablet server {} is there", server);
        }
      }
      now.keySet().removeAll(withoutLog); // It took its lock too late and has lost its log.
      live = now;
      suspects.forEach(this::beginFence);
    }
  }

  /** A record names {@code server}: if it has no lock, it is fenced. */
  synchronized void named(ServerId server) {
    beginFence(server);
  }

  private synchronized void beginFence(ServerId server) {
    if (!live.containsKey(server) && !fenced.contains(server) && fencing.add(server)) {
      fencers.execute(() -> fence(server));
    }
  }

  private void fence(ServerId server) {
    try {
      Thread.sleep(leaseWait.toMillis());
      boolean cameUp = false;
      while (true) {
        try {
          boolean locked = locks.read(LockPaths.server(server)).isPresent();
          if (!hasNoLog(server)) {
            if (locked) {
              spare(server);
              return;
            }
            fence.fence(layout.logs(server), layout.recovery(server));
            tookLog(server);
            locked = locks.read(LockPaths.server(server)).isPresent();
          }
          if (locked) {
            cameUp = true;
            takeLock(server);
          }
          if (cameUp) {
            // While it was fenced: it may have answered since, under a lease of its own.
            Thread.sleep(leaseWait.toMillis());
          }
          break;
        } catch (IOException | RuntimeException e) {
          LOG.warn("Cannot fence tablet server {} yet", server, e);
          Thread.sleep(RETRY.toMillis());
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return; // This master ends; the next one fences.
    }
    synchronized (this) {
      fencing.remove(server);
      fenced.add(server);
    }
    LOG.info("Tablet server {} is fenced", server);
    wake.lookAtAll(); // It may have split tablets that are known whole.
  }

  private synchronized boolean hasNoLog(ServerId server) {
    return withoutLog.contains(server);
  }

  private synchronized void tookLog(ServerId server) {
    withoutLog.add(server);
    live = new TreeMap<>(live);
    live.remove(server);
  }

  /** A server that had its log directory already but not yet its lock: it was only starting. */
  private synchronized void spare(ServerId server) {
    LOG.info("Tablet server {} has its lock: it was just starting", server);
    fencing.remove(server);
    wake.look();
  }

  /** A server's process is known to have ended: its lock need not be waited for. */
  void exited(ServerId server) throws IOException {
    takeLock(server);
    wake.look();
  }

  private void takeLock(ServerId server) throws IOException {
    Optional<VersionedData> lock = locks.read(LockPaths.server(server));
    while (lock.isPresent() && !locks.delete(LockPaths.server(server), lock.get().version())) {
      lock = locks.read(LockPaths.server(server)); // Its last renewal came in between.
    }
  }

  /** The locks changed: looks at once who lives, so that no time is lost while the loop is busy. */
  void locksChanged() {
    try {
      refresh(false);
    } catch (IOException e) {
      LOG.info("Cannot look at the tablet servers' locks now: {}", e.toString());
    }
    wake.look();
  }

  /** The servers that hold their locks. */
  synchronized Map<ServerId, ServerInfo> live() {
    return new TreeMap<>(live);
  }

  /** Whether {@code server} held its lock at the last look. */
  synchronized boolean isLive(ServerId server) {
    return live.containsKey(server);
  }

  /** The servers that can write nothing any more. */
  synchronized Set<ServerId> fenced() {
    return new HashSet<>(fenced);
  }

  /** Whether some server is being fenced. */
  synchronized boolean isFencing() {
    return !fencing.isEmpty();
  }

  private Set<ServerId> serversWithLogs() throws IOException {
    Set<ServerId> servers = new HashSet<>();
    try {
      for (FileStatus directory : fs.listStatus(layout.logs())) {
        try {
          servers.add(ServerId.parse(directory.getPath().getName()));
        } catch (IllegalArgumentException e) {
          LOG.warn("{} is no log directory of a tablet server", directory.getPath(), e);
        }
      }
    } catch (FileNotFoundException e) {
      LOG.debug("{} is not there yet", layout.logs(), e);
    }
    return servers;
  }

  /** Ends fencing; the next master begins it again. */
  @Override
  public void close() {
    fencers.shutdownNow();
  }
}
