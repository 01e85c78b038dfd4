package io.stele.sstable;

import java.io.IOException;

/**
 * A read that was told not to touch the file would have had to. Part of the normal course: the
 * caller reads again where it may wait.
 */
public final class NotInMemoryException extends IOException {
  private static final long serialVersionUID = 1L;

  NotInMemoryException() {
    super("a block of an SSTable is not in memory");
  }

  /** Costs nothing: it says nothing that the caller does not know. */
  @Override
  public synchronized Throwable fillInStackTrace() {
    return this;
  }
}
