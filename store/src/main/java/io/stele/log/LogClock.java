package io.stele.log;

import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * How time passes for a log.
 *
 * @param monotonicNanos what the age of flushes and records is told by; only differences count
 * @param look how long the watch sleeps between two looks at what is under way
 */
record LogClock(LongSupplier monotonicNanos, Duration look) {
  /** The machine's. */
  static final LogClock SYSTEM = new LogClock(System::nanoTime, Duration.ofMillis(20));

  long nanos() {
    return monotonicNanos.getAsLong();
  }
}
