package io.stele.runtime;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;

/**
 * A number of permits that are taken and given back: a fair semaphore that waits through the
 * runtime. Waiting tasks are served in order of arrival, so that a task that wants many is not
 * passed over forever. Safe for use by any number of threads.
 */
public final class Permits {
  private static final Duration FOREVER = Duration.ofDays(365);

  private final ProcessRuntime runtime;
  private final Lock lock;
  private final Condition changed;

  @GuardedBy("lock")
  private final ArrayDeque<Object> waiting = new ArrayDeque<>();

  @GuardedBy("lock")
  private int free;

  /**
   * Permits of which all are free.
   *
   * @param count how many; 0 or more
   */
  public Permits(ProcessRuntime runtime, int count) {
    this.runtime = runtime;
    this.lock = runtime.newLock();
    this.changed = lock.newCondition();
    this.free = count;
  }

  /** Takes {@code count} permits, waiting until they are free. */
  public void acquire(int count) throws InterruptedException {
    boolean acquired = false;
    while (!acquired) {
      acquired = acquire(count, FOREVER);
    }
  }

  /**
   * Takes {@code count} permits, waiting until they are free or {@code timeout} has passed.
   *
   * @return whether they were taken
   */
  public boolean acquire(int count, Duration timeout) throws InterruptedException {
    long end = runtime.nanoTime() + timeout.toNanos();
    lock.lockInterruptibly();
    try {
      return acquireUntil(end, count);
    } finally {
      lock.unlock();
    }
  }

  @GuardedBy("lock")
  private boolean acquireUntil(long end, int count) throws InterruptedException {
    Object turn = new Object();
    waiting.add(turn);
    try {
      while (waiting.peek() != turn || free < count) {
        long left = end - runtime.nanoTime();
        if (left <= 0) {
          return false;
        }
        changed.awaitNanos(left);
      }
      free -= count;
      return true;
    } finally {
      waiting.remove(turn);
      changed.signalAll();
    }
  }

  /** Takes {@code count} permits if they are free and no task waits. */
  public boolean tryAcquire(int count) {
    lock.lock();
    try {
      if (!waiting.isEmpty() || free < count) {
        return false;
      }
      free -= count;
      return true;
    } finally {
      lock.unlock();
    }
  }

  /** Gives {@code count} permits back. */
  public void release(int count) {
    lock.lock();
    try {
      free += count;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** How many are free at this moment. */
  public int free() {
    lock.lock();
    try {
      return free;
    } finally {
      lock.unlock();
    }
  }
}
