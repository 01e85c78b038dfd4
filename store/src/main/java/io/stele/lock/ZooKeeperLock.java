package io.stele.lock;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.stele.model.Bytes;
import io.stele.runtime.Futures;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A lock held by one ZooKeeper session: lost when that session ends or its node is deleted, which
 * is whichever is noticed first of the session's own event, the node's, and a failing renewal.
 *
 * <p>Safe for use by any number of threads.
 */
final class ZooKeeperLock implements Lock, Watcher {
  private static final Logger LOG = LoggerFactory.getLogger(ZooKeeperLock.class);

  private enum State {
    HELD,
    RELEASED,
    LOST
  }

  private final CuratorLockService service;
  private final ZooKeeper zk;
  private final long session;
  private final String path;
  private final java.util.concurrent.locks.Lock writing; // One renewal at a time.

  @GuardedBy("this")
  private final List<Runnable> actions = new ArrayList<>();

  private volatile State state = State.HELD; // Written under this.
  private volatile String why = "";

  @GuardedBy("writing")
  private Bytes data;

  ZooKeeperLock(CuratorLockService service, ZooKeeper zk, String path, Bytes data) {
    this.service = service;
    this.zk = zk;
    this.session = zk.getSessionId();
    this.path = path;
    this.data = data;
    this.writing = service.newLock();
  }

  /**
   * Watches the node, by its children: it has none, so that the watch fires at its deletion and at
   * the session's end, but not at every renewal.
   *
   * @return false if the node is gone already
   */
  boolean watch() throws KeeperException, InterruptedException {
    try {
      return zk.getChildren(service.full(path), this).isEmpty();
    } catch (KeeperException.NoNodeException e) {
      return false;
    }
  }

  @Override
  public void process(WatchedEvent event) {
    if (event.getType() == EventType.NodeDeleted) {
      lose("its node was deleted");
    } else if (event.getState() == KeeperState.Expired) {
      lose("the session has expired");
    }
  }

  @Override
  public String path() {
    return path;
  }

  @Override
  public boolean isHeld() {
    return state == State.HELD;
  }

  boolean isLost() {
    return state == State.LOST;
  }

  @Override
  public Instant renew() throws IOException {
    writing.lock();
    try {
      return rewrite(data);
    } finally {
      writing.unlock();
    }
  }

  @Override
  public void update(Bytes newData) throws IOException {
    writing.lock();
    try {
      rewrite(newData);
      data = newData;
    } finally {
      writing.unlock();
    }
  }

  /** Returns when the write was accepted, by the service's clock. */
  private Instant rewrite(Bytes bytes) throws IOException {
    checkHeld();
    try {
      // The node says whose it is: another's may have any version, the one we wrote last too.
      Stat now = zk.exists(service.full(path), false);
      if (now == null || now.getEphemeralOwner() != session) {
        throw lost("its node was deleted or belongs to another session");
      }
      Stat written = zk.setData(service.full(path), bytes.toByteArray(), now.getVersion());
      if (written.getEphemeralOwner() != session) {
        throw lost("its node belongs to another session");
      }
      checkHeld();
      return Instant.ofEpochMilli(written.getMtime());
    } catch (KeeperException.NoNodeException e) {
      throw lost("its node was deleted");
    } catch (KeeperException.SessionExpiredException e) {
      throw lost("the session has expired");
    } catch (KeeperException e) {
      throw new IOException("cannot renew the lock " + path + ": " + e.getMessage(), e);
    } catch (InterruptedException e) {
      throw Futures.interrupted(e, "renewing the lock " + path);
    }
  }

  @Override
  public Duration sessionTimeout() {
    return Duration.ofMillis(zk.getSessionTimeout());
  }

  private void checkHeld() throws LockLostException {
    if (state != State.HELD) {
      throw new LockLostException(path, state == State.LOST ? why : "it was released");
    }
  }

  private LockLostException lost(String reason) {
    lose(reason);
    return new LockLostException(path, reason);
  }

  @Override
  public void onLost(Runnable action) {
    synchronized (this) {
      if (state == State.HELD) {
        actions.add(action);
        return;
      }
      if (state == State.RELEASED) {
        return;
      }
    }
    service.runLost(action);
  }

  @Override
  public void release() {
    if (giveUp()) {
      deleteNode();
    }
  }

  // Until the node is gone or the session has ended: else nobody could have the lock while this
  // process lives.
  private void deleteNode() {
    try {
      Stat stat = zk.exists(service.full(path), false);
      if (stat != null && stat.getEphemeralOwner() == session) {
        zk.delete(service.full(path), stat.getVersion());
      }
      service.ended(this);
    } catch (KeeperException.NoNodeException | KeeperException.SessionExpiredException e) {
      LOG.debug("The lock {} was already gone when it was released", path, e);
      service.ended(this);
    } catch (KeeperException e) {
      LOG.warn("Cannot release the lock {} yet; will retry", path, e);
      service.later(this::deleteNode);
    } catch (InterruptedException e) {
      Futures.interruptAgain();
      service.later(this::deleteNode);
    }
  }

  /** Ends the lock on request, without calling those that watch for its loss. */
  synchronized boolean giveUp() {
    boolean had = state == State.HELD;
    if (had) {
      state = State.RELEASED;
      actions.clear();
    }
    return had;
  }

  private void lose(String reason) {
    List<Runnable> toRun;
    synchronized (this) {
      if (state != State.HELD) {
        return;
      }
      why = reason;
      state = State.LOST;
      toRun = List.copyOf(actions);
      actions.clear();
    }
    LOG.warn("The lock {} is lost: {}", path, reason);
    toRun.forEach(service::runLost);
    service.ended(this);
  }
}
