package io.stele.model;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.TimeUnit;

/** Converts times to and from the timestamps of cells: microseconds since 1970. */
public final class Timestamps {
  private Timestamps() {}

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
