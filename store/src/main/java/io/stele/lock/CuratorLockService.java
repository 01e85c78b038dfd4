package io.stele.lock;

import io.stele.model.Bytes;
import io.stele.model.SteleException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.retry.RetryOneTime;
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
 * <p>Curator keeps the connection: it makes a new session when one has expired, and ends a session
 * of itself when the quorum was silent for its whole time limit. The calls go to the ZooKeeper
 * handle of the session: Curator's own retries would turn a change whose answer was lost into a
 * failure of its repetition. What this class does instead is said in {@link LockService}: it reads
 * again (after a {@code sync}, so that the read sees everything before it) and settles the outcome.
 *
 * <p>A lock belongs to the session that created its node and goes to the handle of that session
 * only, so that a later session of the same process can neither renew it nor be taken for it.
 *
 * <p>Watches use persistent ones, which need ZooKeeper 3.6 or newer at the servers.
 */
public final class CuratorLockService implements LockService {
  private static final Logger LOG = LoggerFactory.getLogger(CuratorLockService.class);
  private static final Duration RETRY_PAUSE = Duration.ofMillis(50);
  private static final Duration REPAIR_PAUSE = Duration.ofSeconds(1);

  private final CuratorFramework curator;
  private final String root;
  private final Duration timeLimit;
  private final ScheduledThreadPoolExecutor callbacks = executor("lock-callbacks");
  // Apart, so that a slow watch does not delay the news that a lock is lost.
  private final ScheduledThreadPoolExecutor losses = executor("lock-losses");
  private final List<PathWatch> watches = new CopyOnWriteArrayList<>();
  private final Map<String, ZooKeeperLock> locks = new ConcurrentHashMap<>(); // Not ended yet.
  private final Object locking = new Object();

  private CuratorLockService(CuratorFramework curator, String root, Duration timeLimit) {
    this.curator = curator;
    this.root = root;
    this.timeLimit = timeLimit;
  }

  /**
   * Connects and waits for the first session.
   *
   * @param quorum ZooKeeper servers, host:port, separated by commas
   * @param cluster the cluster's name: its nodes are under {@code /stele/<cluster>}
   * @param sessionTimeout how long the servers wait for a silent process before its locks are free;
   *     also the time limit of one call
   * @throws IOException where no server answers in time
   */
  public static CuratorLockService connect(String quorum, String cluster, Duration sessionTimeout)
      throws IOException {
    LockPaths.check(cluster);
    int timeoutMillis = Math.toIntExact(sessionTimeout.toMillis());
    CuratorFramework curator =
        CuratorFrameworkFactory.builder()
            .connectString(quorum)
            .sessionTimeoutMs(timeoutMillis)
            .connectionTimeoutMs(timeoutMillis)
            .retryPolicy(new RetryOneTime(1))
            .ensembleTracker(false)
            .build();
    CuratorLockService service =
        new CuratorLockService(curator, "/stele/" + cluster, sessionTimeout);
    curator
        .getConnectionStateListenable()
        .addListener((client, state) -> service.connectionChanged(state));
    curator.start();
    try {
      if (curator.blockUntilConnected(timeoutMillis, TimeUnit.MILLISECONDS)) {
        return service;
      }
    } catch (InterruptedException e) {
      service.close();
      throw interrupted("connecting to ZooKeeper at " + quorum, e);
    }
    service.close();
    throw new IOException(
        "no ZooKeeper server answers at "
            + quorum
            + " within "
            + sessionTimeout
            + ": are they running, and is stele.zookeeper.quorum right?");
  }

  @Override
  public Optional<VersionedData> read(String path) throws IOException {
    return read(path, deadline());
  }

  @Override
  public List<String> children(String path) throws IOException {
    return retrying(
        path,
        deadline(),
        zk ->
            synced(zk, () -> zk.getChildren(full(path), false).stream().sorted().toList())
                .orElse(List.of()));
  }

  @Override
  public void create(String path, Bytes data) throws IOException {
    check(path, data);
    settling(
        path,
        zk -> {
          create(zk, path, data, CreateMode.PERSISTENT);
          return true;
        },
        node -> {
          if (node.isEmpty()) {
            return Optional.empty();
          }
          VersionedData now = node.get();
          if (now.version() > 0) {
            throw new UnsettledException();
          }
          if (!now.data().equals(data)) {
            throw exists(path);
          }
          return Optional.of(true);
        });
  }

  @Override
  public OptionalInt write(String path, Bytes data, int expectedVersion) throws IOException {
    check(path, data);
    OptionalInt written = OptionalInt.of(expectedVersion + 1);
    return settling(
        path,
        zk -> {
          try {
            zk.setData(full(path), data.toByteArray(), expectedVersion);
            return written;
          } catch (KeeperException.BadVersionException | KeeperException.NoNodeException e) {
            return OptionalInt.empty();
          }
        },
        node -> {
          int version = node.map(VersionedData::version).orElse(-1);
          if (version == expectedVersion) {
            return Optional.empty();
          }
          if (version != expectedVersion + 1) {
            throw new UnsettledException();
          }
          return Optional.of(
              node.orElseThrow().data().equals(data) ? written : OptionalInt.empty());
        });
  }

  @Override
  public boolean delete(String path, int expectedVersion) throws IOException {
    LockPaths.check(path);
    return settling(
        path,
        zk -> {
          try {
            zk.delete(full(path), expectedVersion);
            return true;
          } catch (KeeperException.BadVersionException | KeeperException.NoNodeException e) {
            return false;
          } catch (KeeperException.NotEmptyException e) {
            throw SteleException.refused("the node " + path + " has children: delete them first");
          }
        },
        node -> {
          if (node.isEmpty()) {
            return Optional.of(true);
          }
          int version = node.get().version();
          if (version < expectedVersion) {
            throw new UnsettledException(); // Deleted by us or another, and created again.
          }
          return version == expectedVersion ? Optional.empty() : Optional.of(false);
        });
  }

  @Override
  public Watch watch(String path, Runnable changed) {
    LockPaths.check(path);
    PathWatch watch = new PathWatch(path, changed);
    watches.add(watch);
    callbacks.execute(watch::arm);
    return watch;
  }

  @Override
  public Optional<Lock> tryLock(String path, Bytes data) throws IOException {
    check(path, data);
    synchronized (locking) { // So that a node of ours without a lock is a leftover.
      return retrying(
          path,
          deadline(),
          zk -> {
            int version = 0;
            try {
              create(zk, path, data, CreateMode.EPHEMERAL);
            } catch (SteleException exists) {
              Stat stat = zk.exists(full(path), false);
              if (stat == null) {
                throw new KeeperException.ConnectionLossException(); // Just gone: once more.
              }
              if (stat.getEphemeralOwner() != zk.getSessionId() || locks.containsKey(path)) {
                return Optional.empty();
              }
              version = stat.getVersion(); // Created by an attempt whose answer was lost.
            }
            ZooKeeperLock lock = new ZooKeeperLock(this, zk, path, data, version);
            if (!lock.watch()) {
              throw new KeeperException.ConnectionLossException(); // Deleted meanwhile: once more.
            }
            locks.put(path, lock);
            if (lock.isLost()) {
              ended(lock);
            }
            return Optional.of(lock);
          });
    }
  }

  @Override
  public void close() {
    locks.values().forEach(ZooKeeperLock::giveUp);
    curator.close();
    callbacks.shutdown();
    losses.shutdown();
  }

  // For locks.

  String full(String path) {
    return root + "/" + path;
  }

  /** The lock has ended, so that another may be taken at its path. */
  void ended(ZooKeeperLock lock) {
    locks.remove(lock.path(), lock);
  }

  void runLost(Runnable action) {
    losses.execute(() -> runSafely(action));
  }

  void later(Runnable action) {
    callbacks.schedule(action, REPAIR_PAUSE.toMillis(), TimeUnit.MILLISECONDS);
  }

  /** The handle of the current session; for tests too. */
  ZooKeeper handle() throws KeeperException, InterruptedException {
    try {
      return curator.getZookeeperClient().getZooKeeper();
    } catch (KeeperException | InterruptedException | RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw new IllegalStateException("Curator gives no ZooKeeper handle: " + e, e);
    }
  }

  static InterruptedIOException interrupted(String during, InterruptedException cause) {
    Thread.currentThread().interrupt();
    InterruptedIOException e = new InterruptedIOException("interrupted while " + during);
    e.initCause(cause);
    return e;
  }

  /** Whether the answer may have been lost, and a connection that comes back helps. */
  static boolean isLost(KeeperException e) {
    return switch (e.code()) {
      case CONNECTIONLOSS, OPERATIONTIMEOUT, SESSIONEXPIRED, SESSIONMOVED, REQUESTTIMEOUT -> true;
      default -> false;
    };
  }

  // Calls and their outcomes.

  /** A call on one session's handle. */
  private interface Call<T> {
    T run(ZooKeeper zk) throws KeeperException, InterruptedException;
  }

  /**
   * What a node shows of a change whose answer was lost: the answer; empty where it was not applied
   * and may be tried again.
   */
  private interface Settlement<T> {
    Optional<T> of(Optional<VersionedData> node) throws UnsettledException;
  }

  /** It cannot be told whether the change was applied. */
  private static final class UnsettledException extends Exception {
    private static final long serialVersionUID = 1L;
  }

  private Optional<VersionedData> read(String path, long deadline) throws IOException {
    LockPaths.check(path);
    return retrying(
        path,
        deadline,
        zk ->
            synced(
                zk,
                () -> {
                  Stat stat = new Stat();
                  byte[] data = zk.getData(full(path), false, stat);
                  return new VersionedData(Bytes.wrap(data), stat.getVersion());
                }));
  }

  /** Something read. */
  private interface Read<T> {
    T run() throws KeeperException, InterruptedException;
  }

  /**
   * Reads after the server has caught up with the quorum; empty where there is no such node. Both
   * requests are sent at once, and answered in order.
   */
  private static <T> Optional<T> synced(ZooKeeper zk, Read<T> read)
      throws KeeperException, InterruptedException {
    CompletableFuture<Integer> synced = new CompletableFuture<>();
    zk.sync("/", (code, path, context) -> synced.complete(code), null);
    Optional<T> found;
    try {
      found = Optional.of(read.run());
    } catch (KeeperException.NoNodeException e) {
      found = Optional.empty();
    }
    try {
      int code = synced.get();
      if (code != KeeperException.Code.OK.intValue()) {
        throw KeeperException.create(KeeperException.Code.get(code));
      }
      return found;
    } catch (ExecutionException e) {
      throw new IllegalStateException(e);
    }
  }

  /** For what may be repeated without harm. */
  private <T> T retrying(String path, long deadline, Call<T> call) throws IOException {
    while (true) {
      try {
        return call.run(handle());
      } catch (KeeperException e) {
        if (!isLost(e)) {
          throw new IOException("ZooKeeper refuses " + full(path) + ": " + e.getMessage(), e);
        }
        if (!awaitConnection(deadline)) {
          throw new IOException(
              "ZooKeeper does not answer for " + full(path) + " within " + timeLimit, e);
        }
      } catch (InterruptedException e) {
        throw interrupted("waiting for ZooKeeper", e);
      }
    }
  }

  /** For a change that must not be repeated before it is known not to have been applied. */
  private <T> T settling(String path, Call<T> change, Settlement<T> settlement) throws IOException {
    long deadline = deadline();
    while (true) {
      ZooKeeper zk = connectedHandle(path, deadline);
      try {
        return change.run(zk);
      } catch (InterruptedException e) {
        throw unknown(path, interrupted("waiting for ZooKeeper", e));
      } catch (KeeperException e) {
        if (!isLost(e)) {
          throw new IOException("ZooKeeper refuses " + full(path) + ": " + e.getMessage(), e);
        }
        Optional<T> settled = settle(path, deadline, settlement, e);
        if (settled.isPresent()) {
          return settled.get();
        }
      }
    }
  }

  private <T> Optional<T> settle(
      String path, long deadline, Settlement<T> settlement, KeeperException lost) {
    try {
      if (awaitConnection(deadline)) {
        return settlement.of(read(path, deadline));
      }
    } catch (IOException | UnsettledException e) {
      lost.addSuppressed(e);
    }
    throw unknown(path, lost);
  }

  /**
   * A handle that is connected, as far as is known, so that what fails on it may have been sent.
   */
  private ZooKeeper connectedHandle(String path, long deadline) throws IOException {
    return retrying(
        path,
        deadline,
        zk -> {
          if (!zk.getState().isConnected()) {
            throw new KeeperException.ConnectionLossException();
          }
          return zk;
        });
  }

  private SteleException unknown(String path, Exception cause) {
    return SteleException.outcomeUnknown(
        "the connection to ZooKeeper was lost while "
            + full(path)
            + " was changed, and it cannot be told whether it was: read it again",
        cause);
  }

  private long deadline() {
    return System.nanoTime() + timeLimit.toNanos();
  }

  private boolean awaitConnection(long deadline) throws IOException {
    try {
      // Curator learns of a lost connection a moment later than the call that was lost.
      TimeUnit.NANOSECONDS.sleep(RETRY_PAUSE.toNanos());
      long left = deadline - System.nanoTime();
      return left > 0
          && curator.blockUntilConnected(
              (int) Math.max(1, TimeUnit.NANOSECONDS.toMillis(left)), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      throw interrupted("waiting for the connection to ZooKeeper", e);
    }
  }

  private void create(ZooKeeper zk, String path, Bytes data, CreateMode mode)
      throws KeeperException, InterruptedException {
    while (true) {
      try {
        zk.create(full(path), data.toByteArray(), ZooDefs.Ids.OPEN_ACL_UNSAFE, mode);
        return;
      } catch (KeeperException.NodeExistsException e) {
        throw exists(path);
      } catch (KeeperException.NoNodeException e) {
        makeParents(zk, full(path));
      }
    }
  }

  private static void makeParents(ZooKeeper zk, String full)
      throws KeeperException, InterruptedException {
    for (int slash = full.indexOf('/', 1); slash > 0; slash = full.indexOf('/', slash + 1)) {
      String parent = full.substring(0, slash);
      if (zk.exists(parent, false) == null) {
        try {
          zk.create(parent, new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        } catch (KeeperException.NodeExistsException e) {
          LOG.debug("{} was made by another at the same time", parent, e);
        }
      }
    }
  }

  private SteleException exists(String path) {
    return SteleException.refused("the node " + full(path) + " of ZooKeeper exists already");
  }

  private void check(String path, Bytes data) {
    LockPaths.check(path);
    if (data.length() > DATA_BYTES_MAX) {
      throw SteleException.refused(
          "the node "
              + full(path)
              + " would hold "
              + data.length()
              + " bytes: the limit is "
              + DATA_BYTES_MAX);
    }
  }

  // Watches.

  private void connectionChanged(ConnectionState state) {
    LOG.info("The connection to ZooKeeper is {}", state);
    if (state == ConnectionState.RECONNECTED) {
      watches.forEach(watch -> callbacks.execute(watch::arm));
    }
  }

  private static void runSafely(Runnable action) {
    try {
      action.run();
    } catch (RuntimeException e) {
      LOG.error("What a lock or watch called back has failed", e);
    }
  }

  /** One persistent watch, set again in every new session. */
  private final class PathWatch implements Watch, Watcher {
    private final String path;
    private final Runnable changed;
    private final AtomicBoolean told = new AtomicBoolean();
    private volatile boolean closed;
    private ZooKeeper armedOn; // Only the callback thread uses it.

    PathWatch(String path, Runnable changed) {
      this.path = path;
      this.changed = changed;
    }

    void arm() {
      if (closed) {
        return;
      }
      try {
        retrying(
            path,
            deadline(),
            zk -> {
              if (zk != armedOn) {
                zk.addWatch(full(path), this, AddWatchMode.PERSISTENT);
                armedOn = zk;
              }
              return true;
            });
        tell();
      } catch (IOException e) {
        LOG.warn("Cannot watch {} yet; tries again", full(path), e);
        later(this::arm);
      }
    }

    @Override
    public void process(WatchedEvent event) {
      tell(); // A change, or a connection that went and came.
    }

    private void tell() {
      if (!closed && told.compareAndSet(false, true)) {
        callbacks.execute(
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
      callbacks.execute(this::disarm);
    }

    private void disarm() {
      if (armedOn != null && armedOn.getState().isAlive()) {
        armedOn.removeWatches(
            full(path),
            this,
            WatcherType.Any,
            true,
            (code, at, context) -> LOG.debug("Watch of {} removed: {}", at, code),
            null);
      }
    }
  }

  private static ScheduledThreadPoolExecutor executor(String name) {
    ScheduledThreadPoolExecutor executor =
        new ScheduledThreadPoolExecutor(
            1,
            work -> {
              Thread thread = new Thread(work, name);
              thread.setDaemon(true);
              return thread;
            },
            new ThreadPoolExecutor.DiscardPolicy()); // What is called back after the end is moot.
    executor.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    return executor;
  }
}
