package io.stele.tablet;

import io.stele.runtime.ServerClock;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A tablet's timestamps and ages, in microseconds, by the wall clock of its server. How long a
 * tablet has been open is {@link TabletTime}'s, which knows no wall clock.
 *
 * <p>Timestamps never go back, not even after moves and restarts: after a clock that was ahead,
 * they advance one by one from the highest. Ages are measured by the current clock, which may go
 * back, and never by a timestamp. So timestamps from a clock that was ahead make nothing older.
 * Safe for use by any number of threads.
 */
final class TabletClock {
  private static final long MICROS = 1_000_000;

  /** Before everything: at this time nothing is old. */
  static final long NEVER = 0;

  private final ServerClock source;
  private final AtomicLong highest;

  /** Goes on above {@code highest}, the highest timestamp assigned before. */
  TabletClock(ServerClock source, long highest) {
    this.source = source;
    this.highest = new AtomicLong(highest);
  }

  /** A timestamp above all that were assigned before. */
  long assign() {
    long now = now();
    return highest.updateAndGet(last -> Math.max(now, last + 1));
  }

  /** Assigns only timestamps above {@code micros} from now on. */
  void pass(long micros) {
    highest.accumulateAndGet(micros, Math::max);
  }

  /** The time, for ages of what is shown. */
  long now() {
    Instant now = source.instant();
    return Math.max(0, now.getEpochSecond() * MICROS + now.getNano() / 1000);
  }

  /**
   * The time, for ages of what is dropped for good: nothing is old while the clock may be wrong.
   */
  long whenDropping() {
    return isTrusted() ? now() : NEVER;
  }

  /** Whether something may be dropped for its age. */
  boolean isTrusted() {
    return source.isTrusted();
  }

  /** The highest timestamp assigned. */
  long highest() {
    return highest.get();
  }
}
