package io.stele.lock;

import java.io.IOException;

/**
 * The lock service could not be reached in time. It says nothing about sessions and locks: while
 * the service is down, no other process can take them.
 */
public final class UnreachableException extends IOException {
  private static final long serialVersionUID = 1L;

  /** With what was to be done. */
  public UnreachableException(String message) {
    super(message);
  }

  /** With what was to be done and how it failed. */
  public UnreachableException(String message, Throwable cause) {
    super(message, cause);
  }
}
