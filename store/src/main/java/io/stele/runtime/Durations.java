package io.stele.runtime;

import java.time.Duration;

/** The smaller and the larger of two durations. */
public final class Durations {
  private Durations() {}

  /** The smaller one. */
  public static Duration min(Duration one, Duration other) {
    return one.compareTo(other) <= 0 ? one : other;
  }

  /** The larger one. */
  public static Duration max(Duration one, Duration other) {
    return one.compareTo(other) >= 0 ? one : other;
  }
}
