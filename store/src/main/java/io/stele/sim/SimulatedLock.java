package io.stele.sim;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;

/**
 * A reentrant lock of a simulation, with conditions. A callback may take it while it is free, and
 * fails the simulation where it would have to wait for it.
 */
final class SimulatedLock implements Lock {
  private final SimulatedProcess process;
  private final ArrayDeque<SimulatedTask> waiting = new ArrayDeque<>();
  private Optional<Object> owner = Optional.empty(); // A task; the simulation for a callback.
  private int holds;

  SimulatedLock(SimulatedProcess process) {
    this.process = process;
  }

  private Object self(String toDo) {
    Simulation simulation = process.simulation();
    return simulation.isInCallback() ? simulation : simulation.runningTask(toDo);
  }

  @Override
  public void lock() {
    Object self = self("take a lock");
    if (!isHeldBy(self) && self instanceof SimulatedTask task) {
      task.yieldBaton();
      while (owner.isPresent()) {
        task.awaitUninterruptibly(
            "a lock that " + owner.get() + " holds", Optional.of(waiting), Optional.empty());
      }
    }
    take(self);
  }

  @Override
  public void lockInterruptibly() throws InterruptedException {
    Object self = self("take a lock");
    if (!isHeldBy(self) && self instanceof SimulatedTask task) {
      task.yieldBaton();
      while (owner.isPresent()) {
        task.await(
            "a lock that " + owner.get() + " holds", Optional.of(waiting), Optional.empty(), true);
      }
    }
    take(self);
  }

  @Override
  public boolean tryLock() {
    Object self = self("try a lock");
    if (isHeldByOther(self)) {
      return false;
    }
    take(self);
    return true;
  }

  @Override
  public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
    SimulatedTask task = process.task("wait for a lock");
    long end = process.nanoTime() + unit.toNanos(time);
    while (isHeldByOther(task)) {
      long left = end - process.nanoTime();
      if (left <= 0) {
        return false;
      }
      task.await("a lock", Optional.of(waiting), Optional.of(Duration.ofNanos(left)), true);
    }
    take(task);
    return true;
  }

  private boolean isHeldBy(Object self) {
    return owner.isPresent() && owner.get() == self;
  }

  private boolean isHeldByOther(Object self) {
    return owner.isPresent() && owner.get() != self;
  }

  private void take(Object self) {
    if (isHeldByOther(self)) {
      throw process
          .simulation()
          .fail("a callback of " + process.name() + " would have to wait for a lock");
    }
    owner = Optional.of(self);
    holds++;
    if (self instanceof SimulatedTask task) {
      task.lockTaken();
    }
  }

  @Override
  public void unlock() {
    if (owner.isPresent() && owner.get() instanceof SimulatedTask task) {
      task.lockReleased();
    }
    if (--holds == 0) {
      owner = Optional.empty();
      if (!waiting.isEmpty()) {
        waiting.peek().wake(SimulatedTask.Wake.NOTIFIED);
      }
    }
  }

  @Override
  public Condition newCondition() {
    return new Waiters();
  }

  @SuppressWarnings("WaitNotInLoop") // The loop is the caller's.
  private final class Waiters implements Condition {
    private final ArrayDeque<SimulatedTask> tasks = new ArrayDeque<>();

    @Override
    public void await() throws InterruptedException {
      await(Optional.empty(), true);
    }

    @Override
    public void awaitUninterruptibly() {
      try {
        await(Optional.empty(), false);
      } catch (InterruptedException e) {
        throw new AssertionError("an uninterruptible wait was interrupted", e);
      }
    }

    @Override
    public long awaitNanos(long nanos) throws InterruptedException {
      long end = process.nanoTime() + nanos;
      if (nanos > 0) {
        await(Optional.of(Duration.ofNanos(nanos)), true);
      }
      return end - process.nanoTime();
    }

    @Override
    public boolean await(long time, TimeUnit unit) throws InterruptedException {
      return awaitNanos(unit.toNanos(time)) > 0;
    }

    @Override
    public boolean awaitUntil(Date deadline) throws InterruptedException {
      throw new UnsupportedOperationException("waits are by the monotonic clock");
    }

    private void await(Optional<Duration> timeout, boolean interruptible)
        throws InterruptedException {
      SimulatedTask task = process.task("wait for a condition");
      if (!isHeldBy(task)) {
        throw new IllegalMonitorStateException("the lock is not held");
      }
      int held = holds;
      for (int i = 0; i < held; i++) {
        unlock();
      }
      try {
        task.await("a condition", Optional.of(tasks), timeout, interruptible);
      } finally {
        lockAgain(task, held);
      }
    }

    private void lockAgain(SimulatedTask task, int held) {
      // Of a process that was killed nobody else goes on: it need not wait in order to unwind.
      while (owner.isPresent() && !process.isEnding()) {
        task.awaitUninterruptibly("a lock, again", Optional.of(waiting), Optional.empty());
      }
      owner = Optional.of(task);
      for (int i = 0; i < held; i++) {
        holds++;
        task.lockTaken();
      }
    }

    @Override
    public void signal() {
      if (!tasks.isEmpty()) {
        tasks.peek().wake(SimulatedTask.Wake.NOTIFIED);
      }
    }

    @Override
    public void signalAll() {
      List<SimulatedTask> all = new ArrayList<>(tasks);
      all.forEach(task -> task.wake(SimulatedTask.Wake.NOTIFIED));
    }
  }
}
