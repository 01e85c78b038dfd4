package io.stele.runtime;

import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;

/** A bounded pool of threads with a queue. Safe for use by any number of threads. */
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
