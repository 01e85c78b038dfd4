package io.stele.metadata;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;

/**
 * Longer and longer waits between attempts, each varied at random so that many callers do not come
 * back at once. Not safe for use by several threads at a time.
 */
final class Backoff {
  private static final long FIRST_MILLIS = 10;
  private static final long LONGEST_MILLIS = 1000;

  private final RandomGenerator random;
  private long millis = FIRST_MILLIS;

  Backoff(RandomGenerator random) {
    this.random = random;
  }

  /** Runs {@code attempt} after the next wait, or at the deadline if that comes first. */
  void schedule(Deadline deadline, Runnable attempt) {
    long wait =
        Math.min(
            millis / 2 + random.nextLong(millis), Math.max(1, deadline.remaining().toMillis()));
    millis = Math.min(LONGEST_MILLIS, millis * 2);
    CompletableFuture.delayedExecutor(wait, TimeUnit.MILLISECONDS).execute(attempt);
  }

  /** The next wait, for callers that wait themselves. */
  Duration next() {
    long wait = millis / 2 + random.nextLong(millis);
    millis = Math.min(LONGEST_MILLIS, millis * 2);
    return Duration.ofMillis(wait);
  }
}
