package io.stele.sim;

import io.stele.lock.Lock;
import io.stele.lock.LockService;
import io.stele.lock.UnreachableException;
import io.stele.lock.VersionedData;
import io.stele.model.Bytes;
import io.stele.runtime.IoCallable;
import io.stele.runtime.WorkerPool;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.random.RandomGenerator;

/**
 * The lock service of a {@link Simulation}: sessions expire when their process is silent for too
 * long, calls take time, answers get lost, and the ensemble may be down; while it is down no
 * session expires.
 *
 * <p>For the holder of the simulation's baton alone.
 */
public final class SimulatedEnsemble {
  private static final int BEATS_PER_SESSION = 4;
  private static final long LATENCY_MAX_MICROS = 2000;
  private static final long NOTICE_MAX_MILLIS = 600;

  private final Simulation simulation;
  private final SimulatedNetwork network;
  private final SimulatedProcess machine;
  private final MemoryLockStore store = new MemoryLockStore();
  private final RandomGenerator random;
  private final Duration sessionTimeout;
  private double lostAnswers;
  private boolean down;

  /** An ensemble that is up. */
  public SimulatedEnsemble(
      Simulation simulation, SimulatedNetwork network, Duration sessionTimeout) {
    this.simulation = simulation;
    this.network = network;
    this.machine = simulation.process("ensemble");
    this.random = simulation.split();
    this.sessionTimeout = sessionTimeout;
  }

  /** What the network knows the ensemble as. */
  public SimulatedProcess machine() {
    return machine;
  }

  /** Makes it stop answering, or answer again; no session ends during that time. */
  public void setDown(boolean now) {
    if (down != now) {
      simulation.note(machine, now ? "is down" : "is up");
      down = now;
    }
  }

  /** Whether it is down or loses answers. */
  boolean isFaulty() {
    return down || lostAnswers > 0;
  }

  /** What it keeps, to look at it and to change it without taking time. */
  MemoryLockStore store() {
    return store;
  }

  /** How likely the answer to a change is lost. */
  public void setLostAnswers(double probability) {
    lostAnswers = probability;
  }

  /** A session of {@code process}. */
  public Session connect(SimulatedProcess process) {
    WorkerPool callbacks = process.pool("lock-callbacks", 1);
    Session session = new Session(process, store.connect(work -> hand(process, callbacks, work)));
    session.beat();
    return session;
  }

  private static void hand(SimulatedProcess process, WorkerPool callbacks, Runnable work) {
    if (!process.isDead()) {
      callbacks.execute(work);
    }
  }

  /** A process's session. */
  public final class Session implements LockService {
    private final SimulatedProcess process;
    private final MemoryLockService memory;
    private long lastSeenNanos;
    private boolean unheard; // Until it has expired.
    private boolean expired; // And the process does not know.
    private boolean suspended;
    private boolean closed;

    SimulatedProcess process() {
      return process;
    }

    private Session(SimulatedProcess process, MemoryLockService memory) {
      this.process = process;
      this.memory = memory;
      this.lastSeenNanos = simulation.nowNanos();
    }

    private boolean isReachable() {
      return !down
          && !unheard
          && !process.isDead()
          && network.passes(process, machine)
          && network.passes(machine, process);
    }

    /** Looks after the session, every so often, as the ensemble does. */
    private void beat() {
      if (closed) {
        return;
      }
      boolean reachable = isReachable();
      long now = simulation.nowNanos();
      if ((down && !unheard) || (reachable && !process.isPaused())) {
        if (!expired) {
          lastSeenNanos = now;
        }
      }
      if (!expired && now - lastSeenNanos > sessionTimeout.toNanos()) {
        expired = true;
        unheard = false;
        simulation.note(machine, "ends the session of " + process.name());
        memory.expireUnnoticed();
      }
      if (process.isDead() && expired) {
        return;
      }
      // In the process, so that one that is stopped learns of it when it goes on; but not at once.
      Duration delay = Duration.ofMillis(random.nextLong(NOTICE_MAX_MILLIS));
      simulation.schedule(
          process, Duration.ZERO, "", () -> simulation.schedule(process, delay, "", this::notice));
      simulation.schedule(machine, sessionTimeout.dividedBy(BEATS_PER_SESSION), "", this::beat);
    }

    /** What the process learns of its session. */
    private void notice() {
      if (closed) {
        return;
      }
      boolean reachable = isReachable();
      if (!reachable && !suspended) {
        suspended = true;
        memory.disconnect();
      }
      if (reachable && expired) {
        expired = false;
        lastSeenNanos = simulation.nowNanos();
        simulation.note(process, "learns that its session has ended");
        memory.expire();
      }
      if (reachable && suspended) {
        suspended = false;
        memory.reconnect();
      }
    }

    /** Hears nothing of the process any more, until the session has ended for that. */
    public void expire() {
      unheard = !expired;
    }

    /** Whether the session ends early, or has ended and the process does not know. */
    boolean isEnding() {
      return unheard || expired;
    }

    private <T> T call(String path, boolean changes, IoCallable<T> call) throws IOException {
      Optional<Runnable> trap = process.traps().at(Step.LOCKS);
      if (trap.isPresent()) {
        simulation.note(process, "is trapped at the lock service's " + path);
        trap.get().run();
      }
      process.sleepUninterruptibly(Duration.ofNanos(1000 * random.nextLong(1, LATENCY_MAX_MICROS)));
      if (!isReachable()) {
        process.sleepUninterruptibly(sessionTimeout.dividedBy(2));
        throw new UnreachableException("cannot reach the lock service for " + path);
      }
      if (expired) {
        notice();
      }
      lastSeenNanos = simulation.nowNanos(); // To ZooKeeper every call is a sign of life.
      if (changes && random.nextDouble() < lostAnswers) {
        memory.loseNextAnswer(random.nextBoolean());
      }
      T result = call.call();
      process.sleepUninterruptibly(Duration.ofNanos(1000 * random.nextLong(1, LATENCY_MAX_MICROS)));
      return result;
    }

    @Override
    public Optional<VersionedData> read(String path) throws IOException {
      return call(path, false, () -> memory.read(path));
    }

    @Override
    public OptionalLong lastChange(String path) throws IOException {
      return call(path, false, () -> memory.lastChange(path));
    }

    @Override
    public void create(String path, Bytes data) throws IOException {
      call(
          path,
          true,
          () -> {
            memory.create(path, data);
            return true;
          });
    }

    @Override
    public OptionalInt write(String path, Bytes data, int expectedVersion) throws IOException {
      return call(path, true, () -> memory.write(path, data, expectedVersion));
    }

    @Override
    public boolean delete(String path, int expectedVersion) throws IOException {
      return call(path, true, () -> memory.delete(path, expectedVersion));
    }

    @Override
    public List<String> children(String path) throws IOException {
      return call(path, false, () -> memory.children(path));
    }

    @Override
    public List<String> lasting() throws IOException {
      return call("all nodes", false, memory::lasting);
    }

    @Override
    public Watch watch(String path, Runnable changed) {
      return memory.watch(path, changed);
    }

    @Override
    public Optional<Lock> tryLock(String path, Bytes data) throws IOException {
      return call(path, false, () -> memory.tryLock(path, data)).map(RemoteLock::new);
    }

    @Override
    public void close() {
      if (!process.isDead()) { // Else it unwinds: its session ends by silence.
        closed = true;
        memory.close();
      }
    }

    /** A lock whose writes go to the ensemble. */
    private final class RemoteLock implements Lock {
      private final Lock lock;

      RemoteLock(Lock lock) {
        this.lock = lock;
      }

      @Override
      public String path() {
        return lock.path();
      }

      @Override
      public boolean isHeld() {
        return lock.isHeld();
      }

      @Override
      public Duration sessionTimeout() {
        return sessionTimeout;
      }

      @Override
      public Instant renew() throws IOException {
        return call(
            path(),
            false,
            () -> {
              lock.renew();
              return machine.wallClock().instant();
            });
      }

      @Override
      public void update(Bytes data) throws IOException {
        call(
            path(),
            false,
            () -> {
              lock.update(data);
              return true;
            });
      }

      @Override
      public void onLost(Runnable action) {
        lock.onLost(action);
      }

      @Override
      public void release() {
        if (!process.isDead()) {
          lock.release();
        }
      }
    }
  }
}
