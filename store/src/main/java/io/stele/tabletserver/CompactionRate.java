package io.stele.tabletserver;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.stele.runtime.Futures;
import io.stele.runtime.ProcessRuntime;
import io.stele.tablet.CompactionPace;
import java.io.InterruptedIOException;
import java.time.Duration;

/**
 * A rate, in bytes a second, that the compactions of a server share. A call waits for the bytes of
 * the calls before it, so a single small compaction never waits. Safe for use by any number of
 * threads.
 */
final class CompactionRate implements CompactionPace {
  private static final double NANOS_PER_SECOND = 1e9;

  private final ProcessRuntime runtime;
  private final double nanosPerByte;

  @GuardedBy("this")
  private long freeNanos; // When the bytes read so far are paid for.

  CompactionRate(ProcessRuntime runtime, long bytesPerSecond) {
    this.runtime = runtime;
    this.nanosPerByte = NANOS_PER_SECOND / bytesPerSecond;
    this.freeNanos = runtime.nanoTime();
  }

  /** A pace of so many bytes a second; 0: no bound. */
  static CompactionPace of(ProcessRuntime runtime, long bytesPerSecond) {
    return bytesPerSecond == 0 ? UNLIMITED : new CompactionRate(runtime, bytesPerSecond);
  }

  @Override
  public void passed(long bytes) throws InterruptedIOException {
    Duration wait = book(bytes);
    if (!wait.isZero()) {
      try {
        runtime.sleep(wait);
      } catch (InterruptedException e) {
        throw Futures.interrupted(e, "a compaction that kept to its rate");
      }
    }
  }

  private synchronized Duration book(long bytes) {
    long now = runtime.nanoTime();
    long waitNanos = Math.max(0, freeNanos - now);
    freeNanos = now + waitNanos + (long) (bytes * nanosPerByte);
    return Duration.ofNanos(waitNanos);
  }
}
