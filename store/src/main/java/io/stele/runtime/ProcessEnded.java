package io.stele.runtime;

/**
 * Ends the tasks of a process that is over: thrown by every wait in it. Code that catches it must
 * throw it again.
 */
public abstract class ProcessEnded extends Error {
  private static final long serialVersionUID = 1L;

  /** Without a stack trace. */
  protected ProcessEnded(String message) {
    super(message, null, false, false);
  }
}
