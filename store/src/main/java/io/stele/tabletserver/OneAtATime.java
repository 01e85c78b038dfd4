package io.stele.tabletserver;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.ArrayDeque;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;

/**
 * Hands tasks to the threads of an executor one at a time: the next one when the one before has
 * ended. So a long queue takes one thread at most, and whatever else the executor is given
 * meanwhile waits for one task, not for the queue.
 *
 * <p>The owners of waiting tasks take turns, each with its tasks in their order. So the only task
 * of one owner does not wait behind the thousands of another: at most for the one that runs, and
 * for one of each other owner.
 *
 * <p>Safe for use by any number of threads.
 *
 * @param <K> names the owners
 */
final class OneAtATime<K> {
  private final Executor threads;

  @GuardedBy("this")
  private final Map<K, Queue<Runnable>> waiting = new LinkedHashMap<>(); // The next turn first.

  @GuardedBy("this")
  private boolean busy;

  OneAtATime(Executor threads) {
    this.threads = threads;
  }

  /**
   * Runs a task when its turn comes.
   *
   * @throws RejectedExecutionException if the executor takes no more
   */
  void execute(K owner, Runnable task) {
    synchronized (this) {
      if (busy) {
        waiting.computeIfAbsent(owner, key -> new ArrayDeque<>()).add(task);
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
    Optional<Runnable> next = next();
    try {
      next.ifPresent(this::start);
    } catch (RejectedExecutionException e) {
      synchronized (this) {
        waiting.clear(); // The server stops.
      }
    }
  }

  /** The next task, whose owner has its next turn after all others; empty, and idle, if none. */
  private synchronized Optional<Runnable> next() {
    if (waiting.isEmpty()) {
      busy = false;
      return Optional.empty();
    }
    Map.Entry<K, Queue<Runnable>> first = waiting.entrySet().iterator().next();
    K owner = first.getKey();
    Queue<Runnable> tasks = first.getValue();
    waiting.remove(owner);
    Runnable next = tasks.remove();
    if (!tasks.isEmpty()) {
      waiting.put(owner, tasks);
    }
    return Optional.of(next);
  }
}
