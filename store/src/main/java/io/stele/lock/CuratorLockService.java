package io.stele.lock;

import io.stele.config.ClusterConfig;
import io.stele.model.Bytes;
import io.stele.model.SteleException;
import io.stele.runtime.ProcessRuntime;
import io.stele.runtime.WorkerPool;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.curator.utils.ZKPaths;
import org.apache.zookeeper.AddWatchMode;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The lock service on ZooKeeper.
 *
 * <p>A lock belongs to the session that created its node and goes to the handle of that session
 * only, so that a later session of the same process can neither renew it nor be taken for it.
 *
 * <p>Watches use persistent ones, which need ZooKeeper 3.6 or newer at the servers.
 *
 * <p>Safe for use by any number of threads; calls wait as {@link LockService} says. Callbacks of
 * watches run on one thread, those of lost locks on another.
 */
public final class CuratorLockService implements LockService {
  private static final Logger LOG = LoggerFactory.getLogger(CuratorLockService.class);
  private static final Duration SERVER_PATIENCE = Duration.ofMinutes(2);
  private static final Duration REPAIR_PAUSE = Duration.ofSeconds(1);

  private final ProcessRuntime runtime;
  private final ZooKeeperConnection connection;
  private final WorkerPool callbacks;
  // Apart, so that a slow watch does not delay the news that a lock is lost.
  private final WorkerPool losses;
  private final List<PathWatch> watches = new CopyOnWriteArrayList<>();
  private final Map<String, ZooKeeperLock> locks = new ConcurrentHashMap<>(); // Not ended yet.
  private final java.util.concurrent.locks.Lock locking;
  private final Set<String> unreadable = ConcurrentHashMap.newKeySet(); // Told once each.

  private CuratorLockService(ProcessRuntime runtime, ZooKeeperConnection connection) {
    this.runtime = runtime;
    this.connection = connection;
    this.callbacks = runtime.pool("lock-callbacks", 1);
    this.losses = runtime.pool("lock-losses", 1);
    this.locking = runtime.newLock();
  }

  /**
   * Connects and waits for the first session.
   *
   * @param quorum ZooKeeper servers, host:port, separated by commas
   * @param cluster the cluster's name: its nodes are under {@code /stele/<cluster>}
   * @param sessionTimeout how long the servers wait for a silent process before its locks are free;
   *     also the time limit of one call
   * @throws IOException if no server answers in time
   */
  public static CuratorLockService connect(
      ProcessRuntime runtime, String quorum, String cluster, Duration sessionTimeout)
      throws IOException {
    return connect(runtime, quorum, cluster, sessionTimeout, sessionTimeout);
  }

  /** The same for the cluster that a configuration names. */
  public static CuratorLockService connect(ProcessRuntime runtime, ClusterConfig cluster)
      throws IOException {
    return connect(runtime, cluster.zookeeperQuorum(), cluster.name(), cluster.sessionTimeout());
  }

  /**
   * The same for a server, which others start again where it cannot start: it waits for a lock
   * service that is down, so that the connection is back as soon as the service is.
   *
   * @throws IOException if no server answers within minutes
   */
  public static CuratorLockService connectServer(ProcessRuntime runtime, ClusterConfig cluster)
      throws IOException {
    return connect(
        runtime,
        cluster.zookeeperQuorum(),
        cluster.name(),
        cluster.sessionTimeout(),
        SERVER_PATIENCE);
  }

  private static CuratorLockService connect(
      ProcessRuntime runtime,
      String quorum,
      String cluster,
      Duration sessionTimeout,
      Duration patience)
      throws IOException {
    LockPaths.check(cluster);
    ZooKeeperConnection connection =
        new ZooKeeperConnection(runtime, quorum, "/stele/" + cluster, sessionTimeout);
    CuratorLockService service = new CuratorLockService(runtime, connection);
    try {
      connection.start(patience, service::reconnected);
      return service;
    } catch (IOException e) {
      service.close();
      throw e;
    }
  }

  @Override
  public Optional<VersionedData> read(String path) throws IOException {
    LockPaths.check(path);
    return connection.read(path);
  }

  @Override
  public OptionalLong lastChange(String path) throws IOException {
    LockPaths.check(path);
    return connection.lastChange(path);
  }

  @Override
  public List<String> children(String path) throws IOException {
    LockPaths.check(path);
    return connection
        .behindBarrier(
            path, zk -> zk.getChildren(connection.full(path), false).stream().sorted().toList())
        .orElse(List.of());
  }

  @Override
  public List<String> lasting() throws IOException {
    return connection
        .behindBarrier(
            "",
            zk -> {
              List<String> found = new ArrayList<>();
              for (String child : zk.getChildren(connection.root(), false)) {
                addLasting(zk, child, found);
              }
              return found.stream().sorted().toList();
            })
        .orElse(List.of());
  }

  /** Adds a node and those below it, unless it is a lock, which has none, or may not be read. */
  private void addLasting(ZooKeeper zk, String path, List<String> found)
      throws KeeperException, InterruptedException {
    Stat stat = new Stat();
    try {
      List<String> children = zk.getChildren(connection.full(path), false, stat);
      if (stat.getEphemeralOwner() != 0) {
        return;
      }
      found.add(path);
      for (String child : children) {
        addLasting(zk, path + "/" + child, found);
      }
    } catch (KeeperException.NoNodeException e) {
      LOG.debug("{} is gone meanwhile", connection.full(path), e);
    } catch (KeeperException.NoAuthException e) {
      if (unreadable.add(path)) {
        LOG.warn("{} may not be read by this process: it is passed over", connection.full(path), e);
      }
    }
  }

  @Override
  public void create(String path, Bytes data) throws IOException {
    LockPaths.check(path, data, connection.full(path));
    connection.change(
        path,
        zk -> {
          create(zk, path, data, CreateMode.PERSISTENT);
          return true;
        },
        refusal -> {
          if (refusal.code() == KeeperException.Code.NODEEXISTS) {
            throw exists(path);
          }
          throw connection.refusedByZooKeeper(path, refusal); // The root of the quorum's path.
        },
        node -> {
          if (node.isEmpty()) {
            return Optional.empty();
          }
          VersionedData now = node.get();
          if (now.version() > 0) {
            throw new ZooKeeperConnection.UnclearException();
          }
          if (!now.data().equals(data)) {
            throw exists(path);
          }
          return Optional.of(true);
        });
  }

  @Override
  public OptionalInt write(String path, Bytes data, int expectedVersion) throws IOException {
    LockPaths.check(path, data, connection.full(path));
    OptionalInt written = OptionalInt.of(expectedVersion + 1);
    return connection.change(
        path,
        zk -> {
          zk.setData(connection.full(path), data.toByteArray(), expectedVersion);
          return written;
        },
        refusal -> OptionalInt.empty(),
        node -> {
          int version = node.map(VersionedData::version).orElse(-1);
          if (version == expectedVersion) {
            return Optional.empty();
          }
          if (version != expectedVersion + 1) {
            throw new ZooKeeperConnection.UnclearException();
          }
          return Optional.of(
              node.orElseThrow().data().equals(data) ? written : OptionalInt.empty());
        });
  }

  @Override
  public boolean delete(String path, int expectedVersion) throws IOException {
    LockPaths.check(path);
    return connection.change(
        path,
        zk -> {
          try {
            zk.delete(connection.full(path), expectedVersion);
            return true;
          } catch (KeeperException.NotEmptyException e) {
            throw SteleException.refused("the node " + path + " has children: delete them first");
          }
        },
        refusal -> false,
        node -> {
          if (node.isEmpty()) {
            return Optional.of(true);
          }
          int version = node.get().version();
          if (version < expectedVersion) {
            // Deleted, by us or another, and created again.
            throw new ZooKeeperConnection.UnclearException();
          }
          return version == expectedVersion ? Optional.empty() : Optional.of(false);
        });
  }

  @Override
  public Watch watch(String path, Runnable changed) {
    LockPaths.check(path);
    PathWatch watch = new PathWatch(path, changed);
    watches.add(watch);
    execute(callbacks, watch::arm);
    return watch;
  }

  @Override
  public Optional<Lock> tryLock(String path, Bytes data) throws IOException {
    LockPaths.check(path, data, connection.full(path));
    locking.lock(); // So that a node of ours without a lock is a leftover.
    try {
      return connection.retrying(
          path,
          zk -> {
            try {
              create(zk, path, data, CreateMode.EPHEMERAL);
            } catch (KeeperException.NodeExistsException e) {
              Stat stat = zk.exists(connection.full(path), false);
              if (stat == null) {
                throw new KeeperException.ConnectionLossException(); // Just gone: once more.
              }
              if (stat.getEphemeralOwner() != zk.getSessionId() || locks.containsKey(path)) {
                return Optional.empty();
              } // Otherwise it was created by an attempt whose answer was lost.
            }
            ZooKeeperLock lock = new ZooKeeperLock(this, zk, path, data);
            if (!lock.watch()) {
              throw new KeeperException.ConnectionLossException(); // Deleted meanwhile: once more.
            }
            locks.put(path, lock);
            if (lock.isLost()) {
              ended(lock);
            }
            return Optional.of(lock);
          });
    } finally {
      locking.unlock();
    }
  }

  @Override
  public void close() {
    locks.values().forEach(ZooKeeperLock::giveUp);
    connection.close();
    // Not at once: what was called back already may be closing this.
    execute(callbacks, callbacks::close);
    execute(losses, losses::close);
  }

  // For locks.

  java.util.concurrent.locks.Lock newLock() {
    return runtime.newLock();
  }

  String full(String path) {
    return connection.full(path);
  }

  /** The lock has ended, so that another may be taken at its path. */
  void ended(ZooKeeperLock lock) {
    locks.remove(lock.path(), lock);
  }

  void runLost(Runnable action) {
    execute(losses, () -> runSafely(action));
  }

  /** The handle of the current session, for tests. */
  ZooKeeper handle() throws IOException, KeeperException, InterruptedException {
    return connection.handle();
  }

  void later(Runnable action) {
    runtime.after(REPAIR_PAUSE, () -> execute(callbacks, action));
  }

  private void create(ZooKeeper zk, String path, Bytes data, CreateMode mode)
      throws KeeperException, InterruptedException {
    while (true) {
      try {
        zk.create(connection.full(path), data.toByteArray(), ZooDefs.Ids.OPEN_ACL_UNSAFE, mode);
        return;
      } catch (KeeperException.NoNodeException e) {
        ZKPaths.mkdirs(zk, connection.full(path), false);
      }
    }
  }

  private SteleException exists(String path) {
    return new SteleException(
        SteleException.Code.ALREADY_EXISTS,
        "the node " + connection.full(path) + " of ZooKeeper already exists");
  }

  // Watches.

  private void reconnected() {
    watches.forEach(watch -> execute(callbacks, watch::arm));
  }

  private static void execute(WorkerPool pool, Runnable action) {
    try {
      pool.execute(action);
    } catch (RejectedExecutionException e) {
      LOG.debug("A callback is dropped: the lock service is closed", e);
    }
  }

  private static void runSafely(Runnable action) {
    try {
      action.run();
    } catch (RuntimeException e) {
      LOG.error("A callback of a lock or watch failed", e);
    }
  }

  /** One persistent watch, set again in every new session. */
  private final class PathWatch implements Watch, Watcher {
    private final String path;
    private final Runnable changed;
    private final AtomicBoolean told = new AtomicBoolean();
    private volatile boolean closed;
    // Only the callback thread uses it.
    private Optional<ZooKeeper> armedOn = Optional.empty();

    PathWatch(String path, Runnable changed) {
      this.path = path;
      this.changed = changed;
    }

    void arm() {
      if (closed) {
        return;
      }
      try {
        connection.retrying(
            path,
            zk -> {
              if (armedOn.isEmpty() || zk != armedOn.get()) {
                zk.addWatch(connection.full(path), this, AddWatchMode.PERSISTENT);
                armedOn = Optional.of(zk);
              }
              return true;
            });
        tell();
      } catch (IOException e) {
        LOG.warn("Cannot watch {} yet; will retry", connection.full(path), e);
        later(this::arm);
      }
    }

    @Override
    public void process(WatchedEvent event) {
      tell(); // A change, or a connection that went and came.
    }

    private void tell() {
      if (!closed && told.compareAndSet(false, true)) {
        execute(
            callbacks,
            () -> {
              told.set(false);
              if (!closed) {
                runSafely(changed);
              }
            });
      }
    }

    @Override
    public void close() {
      closed = true;
      watches.remove(this);
      execute(callbacks, this::disarm);
    }

    private void disarm() {
      Optional<ZooKeeper> alive = armedOn.filter(zk -> zk.getState().isAlive());
      if (alive.isPresent()) {
        alive
            .get()
            .removeWatches(
                connection.full(path),
                this,
                WatcherType.Any,
                true,
                (code, at, context) -> LOG.debug("Watch of {} removed: {}", at, code),
                null);
      }
    }
  }
}
