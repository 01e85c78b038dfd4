package io.stele.lock;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.stele.model.Bytes;
import io.stele.model.SteleException;
import io.stele.runtime.Deadline;
import io.stele.runtime.Futures;
import io.stele.runtime.ProcessRuntime;
import java.io.IOException;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import org.apache.curator.CuratorZookeeperClient;
import org.apache.curator.retry.RetryOneTime;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A process's connection to ZooKeeper, and how its calls get an outcome.
 *
 * <p>Curator's client keeps the connection, and makes a new session when the quorum itself has said
 * that the old one has expired, never before: a quorum that is down expires no session, however
 * long. (Curator's framework, a layer above, would itself end a session after a silence as long as
 * its time limit.) The calls go to the ZooKeeper handle of the session: Curator's own retries would
 * turn a change whose answer was lost into a failure of its repetition. Instead, as {@link
 * LockService} says, the node is read again to find the outcome.
 *
 * <p>A node is read behind a <em>barrier</em>, a transaction that changes nothing ({@link
 * #behindBarrier}). ZooKeeper's own {@code sync} is not enough: a leader that the others have left
 * answers it, and reads from its old state, until it notices. But it cannot commit anything.
 *
 * <p>Safe for use by any number of threads.
 */
final class ZooKeeperConnection implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ZooKeeperConnection.class);
  private static final Duration RETRY_PAUSE = Duration.ofMillis(50);

  /** In a check: whatever version the node has. */
  private static final int ANY_VERSION = -1;

  /** How often a session can be taken up again before it ends, if nobody answers. */
  private static final int ATTEMPTS_MIN = 3;

  private final ProcessRuntime runtime;
  private final CuratorZookeeperClient curator;
  private final String quorum;
  private final String root;
  private final Duration timeLimit;
  private volatile Runnable reconnected = () -> {};
  private volatile boolean closed;

  @GuardedBy("this")
  private boolean connected;

  @GuardedBy("this")
  private boolean connectedBefore;

  /** Completed while connected; a new one is made when the connection is lost. */
  @GuardedBy("this")
  private CompletableFuture<Void> connection = new CompletableFuture<>();

  /** A connection that is not started yet; {@code sessionTimeout} also limits each call. */
  ZooKeeperConnection(ProcessRuntime runtime, String quorum, String root, Duration sessionTimeout) {
    this.runtime = runtime;
    int timeoutMillis = Math.toIntExact(sessionTimeout.toMillis());
    this.quorum = quorum;
    this.root = root;
    this.timeLimit = sessionTimeout;
    this.curator =
        new CuratorZookeeperClient(
            connectString(quorum),
            timeoutMillis,
            timeoutMillis,
            this::process,
            new RetryOneTime(1));
  }

  /**
   * The quorum's servers, each named as often as it takes for {@link #ATTEMPTS_MIN}.
   *
   * <p>ZooKeeper's client waits for an answer to its handshake as long as the session's time limit
   * divided by the number of servers it was told. A lone server that is just starting may accept a
   * connection and then neither answer nor close it: {@code NIOServerCnxn.close} fails before its
   * database is there. Without further attempts the session would expire meanwhile.
   */
  private static String connectString(String quorum) {
    int pathAt = quorum.indexOf('/');
    String servers = pathAt < 0 ? quorum : quorum.substring(0, pathAt);
    String path = pathAt < 0 ? "" : quorum.substring(pathAt);
    int named = servers.split(",", -1).length;
    int times = (ATTEMPTS_MIN + named - 1) / named;
    return String.join(",", Collections.nCopies(times, servers)) + path;
  }

  /**
   * Connects and waits for the first session.
   *
   * @param patience how long to wait
   * @param reconnected called after a lost connection is back, in the same session or a new one
   */
  void start(Duration patience, Runnable reconnected) throws IOException {
    this.reconnected = reconnected;
    try {
      curator.start();
    } catch (IOException | RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw new IOException("cannot connect to ZooKeeper at " + quorum, e);
    }
    if (!awaitEvent(Deadline.after(runtime, patience))) {
      throw new UnreachableException(
          "no ZooKeeper server answers at "
              + quorum
              + " ("
              + patience.toSeconds()
              + " s): start a cluster with `stele yarn start` or `stele demo --keep`, or correct"
              + " stele.zookeeper.quorum; a program needs stele-site.xml on its class path");
    }
  }

  /** Called by the thread of one handle's events; those of the last handle count. */
  private void process(WatchedEvent event) {
    if (event.getType() != EventType.None) {
      return;
    }
    CompletableFuture<Void> come;
    boolean again;
    synchronized (this) {
      // Not what the event says: an expired handle tells so after the next one may have connected.
      boolean now = curator.isConnected();
      if (now == connected) {
        return;
      }
      LOG.info("The connection to ZooKeeper is {}", now ? "up" : "lost");
      connected = now;
      if (!now) {
        connection = new CompletableFuture<>();
        return;
      }
      come = connection;
      again = connectedBefore;
      connectedBefore = true;
    }
    come.complete(null);
    if (again) {
      reconnected.run();
    }
  }

  @Override
  public void close() {
    closed = true;
    curator.close();
  }

  /** The cluster's node. */
  String root() {
    return root;
  }

  String full(String path) {
    return root + "/" + path;
  }

  /** The handle of the current session. */
  ZooKeeper handle() throws IOException, KeeperException, InterruptedException {
    if (closed) {
      throw new IOException("the connection to ZooKeeper at " + quorum + " is closed");
    }
    try {
      return curator.getZooKeeper();
    } catch (KeeperException | InterruptedException e) {
      throw e;
    } catch (Exception e) {
      throw new IOException("cannot get a ZooKeeper handle from Curator: " + e, e);
    }
  }

  /** A call on one session's handle. */
  interface Call<T> {
    T run(ZooKeeper zk) throws KeeperException, InterruptedException;
  }

  /** The answer to a change that was refused for what the node is, or is not. */
  interface Refusal<T> {
    T of(KeeperException refusal) throws IOException;
  }

  /**
   * What a node shows of a change whose answer was lost: the answer; empty if it was not applied
   * and may be tried again.
   */
  interface OutcomeCheck<T> {
    Optional<T> of(Optional<VersionedData> node) throws UnclearException;
  }

  /** It cannot be told whether the change was applied. */
  static final class UnclearException extends Exception {
    private static final long serialVersionUID = 1L;
  }

  /** The node's newest data and version. */
  Optional<VersionedData> read(String path) throws IOException {
    return read(path, deadline());
  }

  private Optional<VersionedData> read(String path, Deadline deadline) throws IOException {
    return behindBarrier(
        path,
        deadline,
        zk -> {
          Stat stat = new Stat();
          byte[] data = zk.getData(full(path), false, stat);
          return new VersionedData(Bytes.wrap(data), stat.getVersion());
        });
  }

  /** The transaction that created the node, or wrote its data last. */
  OptionalLong lastChange(String path) throws IOException {
    Optional<Long> transaction =
        behindBarrier(
            path,
            zk -> {
              Stat stat = zk.exists(full(path), false);
              if (stat == null) {
                throw new KeeperException.NoNodeException(path);
              }
              return stat.getMzxid();
            });
    return transaction.map(OptionalLong::of).orElse(OptionalLong.empty());
  }

  /**
   * Reads behind a transaction that changes nothing: the read sees all that was answered to anyone
   * before this call. Empty if there is no such node.
   */
  <T> Optional<T> behindBarrier(String path, Call<T> read) throws IOException {
    return behindBarrier(path, deadline(), read);
  }

  private <T> Optional<T> behindBarrier(String path, Deadline deadline, Call<T> read)
      throws IOException {
    return retrying(path, deadline, zk -> behindBarrier(zk, read));
  }

  /** Sends the barrier and the read at once: they are answered in order. */
  private <T> Optional<T> behindBarrier(ZooKeeper zk, Call<T> read)
      throws KeeperException, InterruptedException {
    CompletableFuture<Integer> passed = new CompletableFuture<>();
    zk.multi(
        List.of(Op.check("/", ANY_VERSION)),
        (code, path, context, results) -> passed.complete(code),
        null);
    Optional<T> found;
    try {
      found = Optional.of(read.run(zk));
    } catch (KeeperException.NoNodeException e) {
      found = Optional.empty();
    }
    if (!runtime.await(passed, timeLimit)) {
      throw new KeeperException.OperationTimeoutException();
    }
    int code = passed.getNow(KeeperException.Code.OPERATIONTIMEOUT.intValue());
    KeeperException.Code outcome = KeeperException.Code.get(code);
    switch (outcome) {
      case OK, NONODE, NOAUTH -> {} // A check that fails is a transaction, too.
      default -> throw KeeperException.create(outcome);
    }
    return found;
  }

  /** For what may be repeated without harm. */
  <T> T retrying(String path, Call<T> call) throws IOException {
    return retrying(path, deadline(), call);
  }

  private <T> T retrying(String path, Deadline deadline, Call<T> call) throws IOException {
    while (true) {
      try {
        return call.run(handle());
      } catch (KeeperException e) {
        if (!isLost(e)) {
          throw refusedByZooKeeper(path, e);
        }
        if (!awaitConnection(deadline)) {
          throw new UnreachableException(
              "ZooKeeper did not answer for " + full(path) + " within " + timeLimit, e);
        }
      } catch (InterruptedException e) {
        throw Futures.interrupted(e, "waiting for ZooKeeper");
      }
    }
  }

  /**
   * For a change that must not be repeated before it is known not to have been applied.
   *
   * <p>If an answer was lost, the node is read; if it shows nothing of the change, the change is
   * tried again. If it is refused then, the node is read once more, as it may be the first attempt
   * that was applied meanwhile.
   *
   * @param refused what a refusal ({@link #isRefusal}) means if no answer was lost before
   * @param check what the node shows if one was
   */
  <T> T change(String path, Call<T> change, Refusal<T> refused, OutcomeCheck<T> check)
      throws IOException {
    Deadline deadline = deadline();
    boolean lost = false;
    while (true) {
      try {
        return change.run(connectedHandle(path, deadline));
      } catch (InterruptedException e) {
        throw unknown(path, Futures.interrupted(e, "waiting for ZooKeeper"));
      } catch (IOException e) {
        if (lost) {
          throw unknown(path, e);
        }
        throw e;
      } catch (KeeperException e) {
        if (!lost && isRefusal(e)) {
          return refused.of(e);
        }
        if (!lost && !isLost(e)) {
          throw refusedByZooKeeper(path, e);
        }
        if (!isLost(e) && !isRefusal(e)) {
          throw unknown(path, e);
        }
        lost = true;
        Optional<T> outcome = outcome(path, deadline, check, e);
        if (outcome.isPresent()) {
          return outcome.get();
        }
      }
    }
  }

  private <T> Optional<T> outcome(
      String path, Deadline deadline, OutcomeCheck<T> check, KeeperException cause) {
    try {
      if (awaitConnection(deadline)) {
        return check.of(read(path, deadline));
      }
    } catch (IOException | UnclearException e) {
      cause.addSuppressed(e);
    }
    throw unknown(path, cause);
  }

  /**
   * A handle that is connected, as far as is known, so that what fails on it may have been sent.
   */
  private ZooKeeper connectedHandle(String path, Deadline deadline) throws IOException {
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

  /** An answer that nothing can be done about here. */
  IOException refusedByZooKeeper(String path, KeeperException e) {
    return new IOException("ZooKeeper refuses " + full(path) + ": " + e.getMessage(), e);
  }

  private SteleException unknown(String path, Exception cause) {
    return SteleException.outcomeUnknown(
        "the connection to ZooKeeper was lost while "
            + full(path)
            + " was being changed, so it may be changed or not: read it again",
        cause);
  }

  private Deadline deadline() {
    return Deadline.after(runtime, timeLimit);
  }

  private boolean awaitConnection(Deadline deadline) throws IOException {
    try {
      // Curator learns of a lost connection a moment later than the call that was lost.
      runtime.sleep(RETRY_PAUSE);
    } catch (InterruptedException e) {
      throw Futures.interrupted(e, "waiting for the connection to ZooKeeper");
    }
    return !deadline.isOver() && awaitEvent(deadline);
  }

  /** Waits until Curator says that it is connected. */
  private boolean awaitEvent(Deadline deadline) throws IOException {
    CompletableFuture<Void> come;
    synchronized (this) {
      come = connection;
    }
    try {
      return runtime.await(come, deadline.remaining());
    } catch (InterruptedException e) {
      throw Futures.interrupted(e, "waiting for the connection to ZooKeeper");
    }
  }

  /** Whether the node is not what the change expects: nothing was changed by this attempt. */
  private static boolean isRefusal(KeeperException e) {
    return switch (e.code()) {
      case BADVERSION, NONODE, NODEEXISTS -> true;
      default -> false;
    };
  }

  /** Whether the answer may have been lost, and a connection that comes back helps. */
  static boolean isLost(KeeperException e) {
    return switch (e.code()) {
      case CONNECTIONLOSS, OPERATIONTIMEOUT, SESSIONEXPIRED, SESSIONMOVED, REQUESTTIMEOUT -> true;
      default -> false;
    };
  }
}
