package io.stele.sim;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.stele.lock.Lock;
import io.stele.lock.LockLostException;
import io.stele.lock.LockPaths;
import io.stele.lock.LockService;
import io.stele.lock.UnreachableException;
import io.stele.lock.VersionedData;
import io.stele.model.Bytes;
import io.stele.model.SteleException;
import io.stele.runtime.SystemRuntime;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.concurrent.Executor;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A lock service in memory, whose sessions end and whose connection breaks when the test says so.
 *
 * <p>Safe for use by any number of threads.
 */
public final class MemoryLockService implements LockService {
  private static final Logger LOG = LoggerFactory.getLogger(MemoryLockService.class);

  /** What becomes of the next change whose answer is lost for good. */
  private enum LostAnswer {
    NONE,
    APPLIED,
    NOT_APPLIED
  }

  private final MemoryLockStore store;
  private final Executor callbacks;
  private final Runnable atClose;

  // Read within the store's monitor, where this one may not be taken.
  private volatile boolean closed;

  @GuardedBy("this")
  private long session;

  @GuardedBy("this")
  private boolean connected = true;

  @GuardedBy("this")
  private LostAnswer nextAnswer = LostAnswer.NONE;

  @GuardedBy("this")
  private final List<MemoryLockStore.Watcher> watches = new ArrayList<>();

  @GuardedBy("this")
  private final List<MemoryLock> locks = new ArrayList<>();

  MemoryLockService(MemoryLockStore store, Executor callbacks, Runnable atClose) {
    this.store = store;
    this.callbacks = callbacks;
    this.atClose = atClose;
    this.session = store.newSession();
  }

  /**
   * Ends the session, as if the process had been silent for too long: its locks are free and
   * reported as lost; the next call begins a new session.
   */
  public void expire() {
    long ended;
    List<MemoryLock> lost;
    synchronized (this) {
      ended = session;
      session = store.newSession();
      lost = List.copyOf(locks);
      locks.clear();
    }
    store.endSession(ended);
    lost.forEach(MemoryLock::lose);
  }

  /**
   * Ends the session on the servers' side only: others see its locks free, this process does not
   * know yet, as one that was stopped; {@link #expire()} tells it.
   */
  public void expireUnnoticed() {
    long ended;
    synchronized (this) {
      ended = session;
    }
    store.endSession(ended);
  }

  /** Breaks the connection: every call fails until {@link #reconnect()}. */
  public synchronized void disconnect() {
    connected = false;
  }

  /** Brings the connection back, in the same session. */
  public void reconnect() {
    List<MemoryLockStore.Watcher> all;
    synchronized (this) {
      connected = true;
      all = List.copyOf(watches);
    }
    all.forEach(watch -> watch.changed().run());
  }

  /** Makes the outcome of the next change unknown to its caller, whether it is applied or not. */
  public synchronized void loseNextAnswer(boolean applied) {
    nextAnswer = applied ? LostAnswer.APPLIED : LostAnswer.NOT_APPLIED;
  }

  @Override
  public Optional<VersionedData> read(String path) throws IOException {
    LockPaths.check(path);
    connectedSession(path);
    return store.node(path).map(node -> new VersionedData(node.data(), node.version()));
  }

  @Override
  public OptionalLong lastChange(String path) throws IOException {
    LockPaths.check(path);
    connectedSession(path);
    Optional<MemoryLockStore.Node> node = store.node(path);
    return node.isPresent() ? OptionalLong.of(node.get().change()) : OptionalLong.empty();
  }

  @Override
  public List<String> children(String path) throws IOException {
    LockPaths.check(path);
    connectedSession(path);
    return store.children(path);
  }

  @Override
  public List<String> lasting() throws IOException {
    connectedSession("all nodes");
    return List.copyOf(store.lasting().keySet());
  }

  @Override
  public void create(String path, Bytes data) throws IOException {
    LockPaths.check(path, data, path);
    if (!change(path, () -> store.create(path, data, MemoryLockStore.PERSISTENT))) {
      throw new SteleException(
          SteleException.Code.ALREADY_EXISTS,
          "the node " + path + " of the lock service exists already");
    }
  }

  @Override
  public OptionalInt write(String path, Bytes data, int expectedVersion) throws IOException {
    LockPaths.check(path, data, path);
    boolean written =
        change(
            path,
            () -> store.write(path, data, node -> node.version() == expectedVersion).isPresent());
    return written ? OptionalInt.of(expectedVersion + 1) : OptionalInt.empty();
  }

  @Override
  public boolean delete(String path, int expectedVersion) throws IOException {
    LockPaths.check(path);
    return change(
        path,
        () -> {
          if (!store.children(path).isEmpty()) {
            throw SteleException.refused("the node " + path + " has children: delete them first");
          }
          return store.delete(path, node -> node.version() == expectedVersion);
        });
  }

  @Override
  @SuppressWarnings("ReferenceEquality") // Two may watch alike: this one goes.
  public Watch watch(String path, Runnable changed) {
    LockPaths.check(path);
    MemoryLockStore.Watcher watcher = new MemoryLockStore.Watcher(path, () -> callBack(changed));
    synchronized (this) {
      watches.add(watcher);
    }
    store.add(watcher);
    watcher.changed().run();
    return () -> {
      store.remove(watcher);
      synchronized (this) {
        watches.removeIf(other -> other == watcher);
      }
    };
  }

  @Override
  public Optional<Lock> tryLock(String path, Bytes data) throws IOException {
    LockPaths.check(path, data, path);
    long owner = connectedSession(path);
    if (!change(path, () -> store.create(path, data, owner))) {
      return Optional.empty();
    }
    MemoryLock lock = new MemoryLock(path, data, owner);
    synchronized (this) {
      if (session == owner) {
        locks.add(lock);
        return Optional.of(lock);
      }
    }
    lock.lose();
    return Optional.of(lock);
  }

  @Override
  public void close() {
    long ended;
    List<MemoryLockStore.Watcher> watching;
    synchronized (this) {
      closed = true;
      ended = session;
      watching = List.copyOf(watches);
      locks.forEach(MemoryLock::giveUp);
      locks.clear();
    }
    watching.forEach(store::remove);
    store.endSession(ended);
    atClose.run();
  }

  private synchronized long connectedSession(String path) throws IOException {
    if (closed || !connected) {
      throw new UnreachableException("cannot reach the lock service for " + path);
    }
    return session;
  }

  private boolean change(String path, BooleanSupplier change) throws IOException {
    connectedSession(path);
    LostAnswer lost;
    synchronized (this) {
      lost = nextAnswer;
      nextAnswer = LostAnswer.NONE;
    }
    if (lost == LostAnswer.NONE) {
      return change.getAsBoolean();
    }
    IOException cause = new IOException("the answer was lost");
    boolean changed = lost == LostAnswer.APPLIED && change.getAsBoolean();
    LOG.debug("The answer to a change of {} is lost; changed: {}", path, changed);
    throw SteleException.outcomeUnknown(
        "the connection was lost while " + path + " was changed: read it again", cause);
  }

  private void callBack(Runnable action) {
    if (!closed) {
      callbacks.execute(action);
    }
  }

  /** A lock of one session. */
  private final class MemoryLock implements Lock {
    private final String path;
    private final long owner;
    private final List<Runnable> actions = new ArrayList<>();
    private Bytes data;
    private boolean held = true;
    private boolean lost;

    MemoryLock(String path, Bytes data, long owner) {
      this.path = path;
      this.data = data;
      this.owner = owner;
    }

    @Override
    public String path() {
      return path;
    }

    @Override
    public synchronized boolean isHeld() {
      return held;
    }

    @Override
    public Duration sessionTimeout() {
      return Duration.ofDays(1); // Nobody is silent for too long; tests end sessions themselves.
    }

    @Override
    public Instant renew() throws IOException {
      Bytes same;
      synchronized (this) {
        same = data;
      }
      update(same);
      return SystemRuntime.INSTANCE.wallClock().instant();
    }

    @Override
    public void update(Bytes newData) throws IOException {
      LockPaths.check(path, newData, path);
      if (!isHeld()) {
        throw new LockLostException(path, "it was lost or released before");
      }
      connectedSession(path);
      if (store.write(path, newData, node -> node.owner() == owner).isEmpty()) {
        lose();
        throw new LockLostException(path, "its node is gone or another's");
      }
      synchronized (this) {
        data = newData;
      }
    }

    @Override
    public void onLost(Runnable action) {
      synchronized (this) {
        if (!lost) {
          if (held) {
            actions.add(action);
          }
          return;
        }
      }
      callBack(action);
    }

    @Override
    public void release() {
      if (giveUp()) {
        store.delete(path, node -> node.owner() == owner);
      }
    }

    synchronized boolean giveUp() {
      boolean had = held;
      held = false;
      actions.clear();
      return had;
    }

    void lose() {
      List<Runnable> toRun;
      synchronized (this) {
        if (!held) {
          return;
        }
        held = false;
        lost = true;
        toRun = List.copyOf(actions);
        actions.clear();
      }
      toRun.forEach(MemoryLockService.this::callBack);
    }
  }
}
