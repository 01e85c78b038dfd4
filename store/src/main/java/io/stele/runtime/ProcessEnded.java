package io.stele.runtime;

/**
 * Ends the tasks of a process that is over: thrown by every wait in it. Nothing may catch it but to
 * go on unwinding.
 */
public abstract class ProcessEnded extends Error {
  private static final long serialVersionUID = 1L;

  /** Without a stack trace. */
  protected ProcessEnded(String message) {
    super(message, null, false, false);
  }
}
