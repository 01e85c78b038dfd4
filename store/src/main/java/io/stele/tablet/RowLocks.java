package io.stele.tablet;

import io.stele.model.Bytes;
import io.stele.runtime.ProcessRuntime;
import java.util.concurrent.locks.Lock;

/**
 * A lock for each row, some rows sharing one. Held while an operation is evaluated and queued,
 * never while it waits for the log. Safe for use by any number of threads.
 */
final class RowLocks {
  private static final int STRIPES = 256;

  private final Lock[] stripes = new Lock[STRIPES];

  RowLocks(ProcessRuntime runtime) {
    for (int i = 0; i < STRIPES; i++) {
      stripes[i] = runtime.newLock();
    }
  }

  /** The lock of {@code row}. */
  Lock of(Bytes row) {
    int hash = row.hashCode();
    return stripes[(hash ^ (hash >>> 16)) & (STRIPES - 1)];
  }
}
