package io.stele.tablet;

import java.time.Instant;
import java.time.InstantSource;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A tablet's own time, in microseconds: its server's clock, but never going back, through moves and
 * restarts. Safe for use by any number of threads.
 */
final class TabletClock {
  private static final long MICROS = 1_000_000;

  private final InstantSource source;
  private final AtomicLong highest;
  private final AtomicLong seen = new AtomicLong();

  /** Goes on above {@code highest}, the highest timestamp assigned before. */
  TabletClock(InstantSource source, long highest) {
    this.source = source;
    this.highest = new AtomicLong(highest);
  }

  /** A timestamp above all that were assigned before. */
  long assign() {
    long now = wall();
    return highest.updateAndGet(last -> Math.max(now, last + 1));
  }

  /** The time, for ages: not before any timestamp assigned, and it never goes back. */
  long now() {
    return Math.max(seen.accumulateAndGet(wall(), Math::max), highest.get());
  }

  /** The highest timestamp assigned. */
  long highest() {
    return highest.get();
  }

  private long wall() {
    Instant now = source.instant();
    return Math.max(0, now.getEpochSecond() * MICROS + now.getNano() / 1000);
  }
}
