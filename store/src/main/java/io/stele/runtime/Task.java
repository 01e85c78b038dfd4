package io.stele.runtime;

import java.util.concurrent.CompletableFuture;

/** Work that runs on its own thread. Safe for use by any number of threads. */
public interface Task {
  /** Ends the wait the task is in, or the next it begins, with an InterruptedException. */
  void interrupt();

  /**
   * Forgets an interrupt that has not ended a wait; only the task itself may call this, when what
   * the interrupt was meant for is over.
   */
  void clearInterrupt();

  /** Whether the caller runs in this task. */
  boolean isCurrent();

  /** Completes when the task has ended, however it ended. */
  CompletableFuture<Void> ended();
}
