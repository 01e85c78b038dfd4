package io.stele.model;

import java.io.Serializable;
import java.time.Instant;

/**
 * Timestamps from {@code fromMicros} (inclusive) to {@code toMicros} (exclusive). REFUSED if they
 * are below 0 or the wrong way round.
 *
 * @param fromMicros the first timestamp
 * @param toMicros the one after the last; {@link Long#MAX_VALUE}: no end
 */
public record TimeRange(long fromMicros, long toMicros) implements Serializable {
  /** Every timestamp. */
  public static final TimeRange ALL = new TimeRange(0, Long.MAX_VALUE);

  public TimeRange {
    if (fromMicros < 0 || fromMicros > toMicros) {
      throw SteleException.refused(
          "a time range needs 0 <= from <= to, in microseconds, not ["
              + fromMicros
              + ", "
              + toMicros
              + ")");
    }
  }

  /**
   * From {@code from} (inclusive) to {@code to} (exclusive), both cut to the microsecond.
   *
   * @throws SteleException REFUSED if one is before 1970
   */
  public static TimeRange of(Instant from, Instant to) {
    return new TimeRange(Timestamps.micros(from), Timestamps.micros(to));
  }

  /** From {@code time}, cut to the microsecond, on. */
  public static TimeRange since(Instant time) {
    return new TimeRange(Timestamps.micros(time), Long.MAX_VALUE);
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
