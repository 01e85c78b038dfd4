package io.stele.sim;

/**
 * Ends the tasks of a process that was killed: thrown by every wait in it. Nothing may catch it but
 * to go on unwinding.
 */
final class ProcessKilled extends Error {
  private static final long serialVersionUID = 1L;

  @SuppressWarnings("StaticAssignmentOfThrowable") // It has no stack trace to be wrong.
  static final ProcessKilled INSTANCE = new ProcessKilled();

  private ProcessKilled() {
    super("the process was killed", null, false, false);
  }
}
