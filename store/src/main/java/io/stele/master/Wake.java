package io.stele.master;

import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/** Tells the master's loop to look again. Safe for use by any number of threads. */
final class Wake {
  private final Semaphore calls = new Semaphore(0);
  private final AtomicBoolean all = new AtomicBoolean(true);

  /** Something may have changed: look soon. */
  void look() {
    calls.release();
  }

  /** Tables or servers changed: read all records, soon. */
  void lookAtAll() {
    all.set(true);
    calls.release();
  }

  /** Whether all records are to be read; asking is a promise to. */
  boolean takeAll() {
    return all.getAndSet(false);
  }

  /** Waits until called, for so long at most. */
  void await(Duration pause) throws InterruptedException {
    if (calls.tryAcquire(pause.toMillis(), TimeUnit.MILLISECONDS)) {
      calls.drainPermits();
    }
  }
}
