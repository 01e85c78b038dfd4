package io.stele.runtime;

import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;

/**
 * A bounded pool of threads with a queue. The queue has no bound of its own: callers bound what
 * they queue. Safe for use by any number of threads.
 */
public interface WorkerPool extends Executor, AutoCloseable {
  /**
   * Runs {@code work} as soon as a thread is free.
   *
   * @throws RejectedExecutionException if the pool was closed
   */
  @Override
  void execute(Runnable work);

  /**
   * Drops tasks that have not begun, interrupts those that have, and accepts no more; does not
   * wait.
   */
  @Override
  void close();
}
