package io.stele.sstable;

import java.io.IOException;

/**
 * A read from memory alone met something that only the file has. Not an error: the caller repeats
 * the read where it may wait.
 */
public final class NotInMemoryException extends IOException {
  private static final long serialVersionUID = 1L;

  /** Without saying what it met, as that costs time. */
  public NotInMemoryException() {
    super("not all of it is in memory, or it is too much to read there");
  }

  /** Has no stack trace, so that it costs little. */
  @Override
  public synchronized Throwable fillInStackTrace() {
    return this;
  }
}
