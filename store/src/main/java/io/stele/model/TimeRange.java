package io.stele.model;

import java.io.Serializable;

/**
 * Timestamps from {@code fromMicros} (inclusive) to {@code toMicros} (exclusive).
 *
 * @param fromMicros the first timestamp
 * @param toMicros the one after the last; {@link Long#MAX_VALUE}: no end
 */
public record TimeRange(long fromMicros, long toMicros) implements Serializable {
  /** Every timestamp. */
  public static final TimeRange ALL = new TimeRange(0, Long.MAX_VALUE);

  public TimeRange {
    if (fromMicros < 0 || fromMicros > toMicros) {
      throw new IllegalArgumentException(
          "a time range needs 0 <= from <= to, in microseconds, not ["
              + fromMicros
              + ", "
              + toMicros
              + ")");
    }
  }

  /** Whether {@code timestampMicros} is in the range. */
  public boolean contains(long timestampMicros) {
    return timestampMicros >= fromMicros && timestampMicros < toMicros;
  }

  @Override
  public String toString() {
    return "[" + fromMicros + ", " + (toMicros == Long.MAX_VALUE ? "\u221e" : toMicros) + ")";
  }
}
