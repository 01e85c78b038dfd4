package io.stele.tabletserver;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;

/**
 * Hands tasks to the threads of another executor one at a time, in their order: the next one when
 * the one before has ended. So a long queue takes one thread at most, and whatever else the other
 * executor is given meanwhile waits for one task, not for the queue.
 *
 * <p>Safe for use by any number of threads.
 */
final class OneAtATime implements Executor {
  private final Executor threads;

  @GuardedBy("this")
  private final Queue<Runnable> waiting = new ArrayDeque<>();

  @GuardedBy("this")
  private boolean busy;

  OneAtATime(Executor threads) {
    this.threads = threads;
  }

  @Override
  public void execute(Runnable task) {
    synchronized (this) {
      if (busy) {
        waiting.add(task);
        return;
      }
      busy = true;
    }
    start(task);
  }

  private void start(Runnable task) {
    try {
      threads.execute(() -> run(task));
    } catch (RuntimeException | Error e) {
      synchronized (this) {
        busy = false;
      }
      throw e;
    }
  }

  private void run(Runnable task) {
    try {
      task.run();
    } finally {
      startNext();
    }
  }

  private void startNext() {
    Runnable next;
    synchronized (this) {
      next = waiting.poll();
      if (next == null) {
        busy = false;
        return;
      }
    }
    try {
      start(next);
    } catch (RejectedExecutionException e) {
      synchronized (this) {
        waiting.clear(); // The server stops.
      }
    }
  }
}
