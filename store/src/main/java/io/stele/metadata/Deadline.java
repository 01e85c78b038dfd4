package io.stele.metadata;

import java.time.Duration;

/** The moment by which something is to be done, on the monotonic clock. */
public final class Deadline {
  private final long endNanos;

  private Deadline(long endNanos) {
    this.endNanos = endNanos;
  }

  /** So long from now. */
  public static Deadline after(Duration time) {
    return new Deadline(System.nanoTime() + time.toNanos());
  }

  /** What is left; never negative. */
  public Duration remaining() {
    return Duration.ofNanos(Math.max(0, endNanos - System.nanoTime()));
  }

  /** Whether nothing is left. */
  public boolean isOver() {
    return endNanos - System.nanoTime() <= 0;
  }
}
