package io.stele.client;

import io.stele.runtime.Durations;
import io.stele.runtime.Futures;
import io.stele.runtime.ProcessRuntime;
import java.io.InterruptedIOException;
import java.time.Duration;

/**
 * Pauses before a tablet is asked again whether something is done: short at first, as it often is
 * by then, and twice as long each time, up to a bound. For one thread.
 */
final class Pauses {
  private static final Duration FIRST = Duration.ofMillis(5);
  private static final Duration MOST = Duration.ofMillis(50);

  private final ProcessRuntime runtime;
  private final String what;
  private Duration next = FIRST;

  /** Pauses of those who wait for {@code what}, which is named in the message of a failure. */
  Pauses(ProcessRuntime runtime, String what) {
    this.runtime = runtime;
    this.what = what;
  }

  /** Pauses once. */
  void pause() throws InterruptedIOException {
    try {
      runtime.sleep(next);
    } catch (InterruptedException e) {
      throw Futures.interrupted(e, what);
    }
    Duration twice = next.multipliedBy(2);
    next = Durations.min(MOST, twice);
  }
}
