package io.stele.sim;

import io.stele.runtime.ProcessEnded;

/** Ends the tasks of a simulated process that was killed. */
final class ProcessKilled extends ProcessEnded {
  private static final long serialVersionUID = 1L;

  @SuppressWarnings("StaticAssignmentOfThrowable") // It has no stack trace to be wrong.
  static final ProcessKilled INSTANCE = new ProcessKilled();

  private ProcessKilled() {
    super("the process was killed");
  }
}
