package io.stele.tablet;

import io.stele.model.Bytes;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A lock for each row, some rows sharing one. Held while an operation is evaluated and queued,
 * never while it waits for the log.
 */
final class RowLocks {
  private static final int STRIPES = 256;

  private final ReentrantLock[] stripes = new ReentrantLock[STRIPES];

  RowLocks() {
    for (int i = 0; i < STRIPES; i++) {
      stripes[i] = new ReentrantLock();
    }
  }

  /** The lock of {@code row}. */
  ReentrantLock of(Bytes row) {
    int hash = row.hashCode();
    return stripes[(hash ^ (hash >>> 16)) & (STRIPES - 1)];
  }
}
