package io.stele.model;

import java.time.DateTimeException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.TimeUnit;

/** Converts times to and from the timestamps of cells: microseconds since 1970. */
public final class Timestamps {
  private static final Instant WRITTEN_AS_NUMBER_MIN = Instant.parse("1971-01-01T00:00:00Z");

  private Timestamps() {}

  /**
   * Reads a timestamp as people write it: as a time such as {@code 2026-01-31T12:00:00Z}, or as a
   * number of microseconds. A number below that of 1971 is refused: it is more likely to be one of
   * milliseconds.
   *
   * @throws SteleException REFUSED if it cannot be a timestamp
   */
  public static long parse(String text) {
    return text.matches("[-+]?\\d+") ? ofNumber(text) : ofTime(text);
  }

  private static long ofNumber(String text) {
    long micros;
    try {
      micros = Long.parseLong(text);
    } catch (NumberFormatException e) {
      throw new SteleException(SteleException.Code.REFUSED, text + " is out of range", e);
    }
    Limits.checkTimestamp(micros);
    Instant time = time(micros);
    if (time.isBefore(WRITTEN_AS_NUMBER_MIN)) {
      throw SteleException.refused(
          text
              + " microseconds are "
              + time
              + ": timestamps are in microseconds since 1970, not in milliseconds; if that time is"
              + " meant, write it instead of the number");
    }
    return micros;
  }

  private static long ofTime(String text) {
    try {
      return micros(Instant.parse(text));
    } catch (DateTimeException e) {
      throw new SteleException(
          SteleException.Code.REFUSED,
          "write a time such as 2026-01-31T12:00:00Z, or microseconds since 1970, not \""
              + text
              + "\"",
          e);
    }
  }

  /**
   * The timestamp of a time, cut to the microsecond.
   *
   * @throws SteleException REFUSED if it is before 1970, or some 292,000 years after it
   */
  public static long micros(Instant time) {
    if (time.isBefore(Instant.EPOCH)) {
      throw SteleException.refused("a timestamp must not be before 1970, as " + time + " is");
    }
    try {
      long seconds = Math.multiplyExact(time.getEpochSecond(), TimeUnit.SECONDS.toMicros(1));
      return Math.addExact(seconds, TimeUnit.NANOSECONDS.toMicros(time.getNano()));
    } catch (ArithmeticException e) {
      throw SteleException.refused("a timestamp cannot be as far from 1970 as " + time);
    }
  }

  /** The time of a timestamp. */
  public static Instant time(long micros) {
    return Instant.EPOCH.plus(micros, ChronoUnit.MICROS);
  }
}
