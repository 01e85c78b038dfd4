package io.stele.metadata;

import io.stele.runtime.Deadline;
import io.stele.runtime.ProcessRuntime;
import java.time.Duration;

/**
 * Longer and longer waits between attempts, each varied at random so that many callers do not come
 * back at once. Not safe for use by several threads at a time.
 */
final class Backoff {
  private static final long FIRST_MILLIS = 10;
  private static final long LONGEST_MILLIS = 1000;

  private final ProcessRuntime runtime;
  private long millis = FIRST_MILLIS;

  Backoff(ProcessRuntime runtime) {
    this.runtime = runtime;
  }

  /** Runs {@code attempt} after the next wait, or at the deadline if that comes first. */
  void schedule(Deadline deadline, Runnable attempt) {
    long wait =
        Math.min(
            millis / 2 + runtime.random().nextLong(millis),
            Math.max(1, deadline.remaining().toMillis()));
    millis = Math.min(LONGEST_MILLIS, millis * 2);
    runtime.after(Duration.ofMillis(wait), attempt);
  }
}
