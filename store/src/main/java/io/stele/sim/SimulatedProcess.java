package io.stele.sim;

import io.stele.runtime.ProcessRuntime;
import io.stele.runtime.Task;
import io.stele.runtime.Timer;
import io.stele.runtime.WorkerPool;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.Lock;
import java.util.random.RandomGenerator;

/**
 * The runtime of one process of a {@link Simulation}. It can be killed, as by kill -9, and paused,
 * as by SIGSTOP; its wall clock may be wrong.
 *
 * <p>For the holder of the simulation's baton alone.
 */
public final class SimulatedProcess implements ProcessRuntime {
  /** When a simulation begins, by clocks that are right. */
  private static final Instant EPOCH = Instant.parse("2026-01-01T00:00:00Z");

  private final Simulation simulation;
  private final String name;
  private final RandomGenerator random;
  private final Set<SimulatedTask> tasks = new LinkedHashSet<>();
  private final List<Object> held = new ArrayList<>();
  private final List<Runnable> atDeath = new ArrayList<>();
  private final Traps traps = new Traps();
  private Duration skew = Duration.ZERO;
  private Duration lostTime = Duration.ZERO;
  private long taskNumber;
  private boolean dead;
  private boolean paused;
  private Optional<Duration> frozenAt = Optional.empty(); // Since the simulation's beginning.

  SimulatedProcess(Simulation simulation, String name, RandomGenerator random) {
    this.simulation = simulation;
    this.name = name;
    this.random = random;
  }

  /** Its name, for the trace. */
  public String name() {
    return name;
  }

  /** Whether it is among one half of all processes, by its name. */
  boolean isOdd() {
    return name.hashCode() % 2 != 0;
  }

  /** What it is part of. */
  public Simulation simulation() {
    return simulation;
  }

  @Override
  public String toString() {
    return name;
  }

  // Faults.

  /**
   * Kills the process: nothing of it runs any more but what unwinds its tasks. The caller may be
   * one of them.
   */
  public void kill() {
    if (dead) {
      return;
    }
    simulation.note(this, "is killed");
    dead = true;
    resume();
    List.copyOf(tasks).forEach(SimulatedTask::end);
    atDeath.forEach(Runnable::run);
  }

  /** Runs {@code work} when the process is killed; at once where it was. It must not wait. */
  public void atDeath(Runnable work) {
    if (dead) {
      work.run();
    } else {
      atDeath.add(work);
    }
  }

  /** What happens to the process at its next steps. */
  Traps traps() {
    return traps;
  }

  /** Whether it was killed. */
  public boolean isDead() {
    return dead;
  }

  /** Stops the process until {@link #resume}: its tasks and callbacks wait, its clocks go on. */
  public void pause() {
    simulation.note(this, "is stopped");
    paused = true;
  }

  /**
   * Stops the process until {@link #resume}, and its two clocks with it, as those of a virtual
   * machine may stop.
   */
  public void freeze() {
    if (frozenAt.isEmpty()) {
      frozenAt = Optional.of(now());
    }
    pause();
  }

  /** Continues a stopped process, however often it was stopped. */
  public void resume() {
    if (paused) {
      frozenAt.ifPresent(since -> lostTime = lostTime.plus(now().minus(since)));
      frozenAt = Optional.empty();
      paused = false;
      simulation.note(this, "goes on");
      release();
    }
  }

  /** Lets run what was held back by a pause, even if the pause goes on. */
  void release() {
    simulation.release(held);
  }

  /** Whether it is stopped. */
  public boolean isPaused() {
    return paused;
  }

  /** Sets the wall clock: so much ahead of the right time from now on. */
  public void setSkew(Duration ahead) {
    skew = ahead;
  }

  /** Whether its wall clock is right. */
  boolean hasRightClock() {
    return skew.isZero();
  }

  // For the simulation.

  boolean isEnding() {
    return dead || simulation.isOver();
  }

  void checkAlive() {
    if (isEnding()) {
      throw ProcessKilled.INSTANCE;
    }
  }

  /** Whether the process is stopped, so that what would run is kept for later. */
  boolean holds(Object one) {
    if (paused) {
      held.add(one);
    }
    return paused;
  }

  void add(SimulatedTask task) {
    tasks.add(task);
  }

  void remove(SimulatedTask task) {
    tasks.remove(task);
  }

  private Duration now() {
    return Duration.ofNanos(simulation.nowNanos());
  }

  long nextTaskNumber() {
    return taskNumber++;
  }

  // As the product sees it.

  @Override
  public long nanoTime() {
    return frozenAt.orElseGet(this::now).minus(lostTime).toNanos();
  }

  @Override
  public InstantSource wallClock() {
    return () -> EPOCH.plusNanos(nanoTime()).plus(skew);
  }

  @Override
  public RandomGenerator random() {
    return random;
  }

  @Override
  public Task start(String taskName, Runnable work) {
    checkAlive();
    return simulation.start(this, taskName, work);
  }

  @Override
  public WorkerPool pool(String poolName, int threadsMax) {
    return new Pool(poolName, threadsMax);
  }

  @Override
  public Timer after(Duration delay, Runnable work) {
    checkAlive();
    Runnable cancel = simulation.schedule(this, delay, "", work);
    return cancel::run;
  }

  @Override
  public void sleep(Duration duration) throws InterruptedException {
    task("sleep").await("time to pass", Optional.empty(), Optional.of(duration), true);
  }

  @Override
  public <T> T await(CompletableFuture<T> future) throws InterruptedException, ExecutionException {
    if (!future.isDone()) {
      awaitDone(future, Optional.empty());
    }
    return future.get();
  }

  @Override
  public boolean await(CompletableFuture<?> future, Duration timeout) throws InterruptedException {
    return future.isDone() || awaitDone(future, Optional.of(timeout));
  }

  private boolean awaitDone(CompletableFuture<?> future, Optional<Duration> timeout)
      throws InterruptedException {
    SimulatedTask task = task("wait for a future");
    long wait = task.nextWait();
    future.whenComplete((result, failure) -> task.wake(wait, SimulatedTask.Wake.NOTIFIED));
    task.await("a future", Optional.empty(), timeout, true);
    return future.isDone();
  }

  @Override
  public Lock newLock() {
    return new SimulatedLock(this);
  }

  /** Waits even if the task is interrupted. */
  void sleepUninterruptibly(Duration duration) {
    task("wait for a machine")
        .awaitUninterruptibly("a machine", Optional.empty(), Optional.of(duration));
  }

  /** The task of this process that runs. */
  SimulatedTask task(String toDo) {
    return simulation.runningTask(toDo);
  }

  /** Tasks that take work from a queue, as many as are wanted at once. */
  private final class Pool implements WorkerPool {
    private final String poolName;
    private final int threadsMax;
    private final ArrayDeque<Runnable> queue = new ArrayDeque<>();
    private final Set<SimulatedTask> idle = new LinkedHashSet<>();
    private final Set<SimulatedTask> workers = new LinkedHashSet<>();
    private boolean closed;

    Pool(String poolName, int threadsMax) {
      this.poolName = poolName;
      this.threadsMax = threadsMax;
    }

    @Override
    public void execute(Runnable work) {
      if (isEnding()) {
        return; // The caller unwinds.
      }
      if (closed) {
        throw new RejectedExecutionException("pool " + poolName + " is closed");
      }
      queue.add(work);
      if (!idle.isEmpty()) {
        idle.iterator().next().wake(SimulatedTask.Wake.NOTIFIED);
      } else if (workers.size() < threadsMax) {
        SimulatedTask[] self = new SimulatedTask[1];
        self[0] = simulation.start(SimulatedProcess.this, poolName, () -> work(self[0]));
        workers.add(self[0]);
      }
    }

    private void work(SimulatedTask self) {
      try {
        while (!closed) {
          Runnable next = queue.poll();
          if (next != null) {
            next.run();
          } else {
            self.awaitUninterruptibly("work of " + poolName, Optional.of(idle), Optional.empty());
          }
        }
      } finally {
        workers.remove(self);
      }
    }

    @Override
    public void close() {
      closed = true;
      queue.clear();
      for (SimulatedTask worker : List.copyOf(workers)) {
        if (idle.contains(worker)) {
          worker.wake(SimulatedTask.Wake.NOTIFIED);
        } else {
          worker.interrupt();
        }
      }
    }
  }
}
