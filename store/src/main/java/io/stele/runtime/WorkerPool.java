package io.stele.runtime;

import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;

/** A bounded pool of threads with a queue. Safe for use by any number of threads. */
public interface WorkerPool extends Executor, AutoCloseable {
  /**
   * Runs {@code work} as soon as a thread is free.
   *
   * @throws RejectedExecutionException where the pool was closed
   */
  @Override
  void execute(Runnable work);

  /** Drops what has not begun, interrupts what has, and takes no more; does not wait. */
  @Override
  void close();
}
