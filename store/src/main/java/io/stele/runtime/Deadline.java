package io.stele.runtime;

import java.time.Duration;

/** The time by which something must be done, on the monotonic clock. Immutable. */
public final class Deadline {
  private final ProcessRuntime runtime;
  private final long endNanos;

  private Deadline(ProcessRuntime runtime, long endNanos) {
    this.runtime = runtime;
    this.endNanos = endNanos;
  }

  /** So long from now. */
  public static Deadline after(ProcessRuntime runtime, Duration time) {
    return new Deadline(runtime, runtime.nanoTime() + time.toNanos());
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
