package io.stele.runtime;

import java.time.Duration;

/**
 * The time by which something must be done, on the monotonic clock. What takes several steps has
 * one, which is passed to each of them. Immutable.
 */
public final class Deadline {
  private final ProcessRuntime runtime;
  private final Duration limit;
  private final long endNanos;

  private Deadline(ProcessRuntime runtime, Duration limit) {
    this.runtime = runtime;
    this.limit = limit;
    this.endNanos = runtime.nanoTime() + limit.toNanos();
  }

  /** So long from now. */
  public static Deadline after(ProcessRuntime runtime, Duration limit) {
    return new Deadline(runtime, limit);
  }

  /** The time that there was at the beginning. */
  public Duration limit() {
    return limit;
  }

  /** What is left; never negative. */
  public Duration remaining() {
    return Duration.ofNanos(Math.max(0, endNanos - runtime.nanoTime()));
  }

  /** Whether nothing is left. */
  public boolean isOver() {
    return endNanos - runtime.nanoTime() <= 0;
  }
}
