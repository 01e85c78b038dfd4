package io.stele.tabletserver;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.OptionalLong;

/**
 * The major compactions of one tablet that users have requested.
 *
 * <p>Compactions have numbers, in the order in which they begin. A request gets the number of the
 * next one that begins, so that it rewrites whatever was in the tablet at the request. Requests
 * that come before it begins get the same number: they share it. One begins only if it is wanted:
 * no request asks for a compaction that is running, or done. The numbers are in memory only, and
 * mean nothing when the tablet is loaded again.
 *
 * <p>Safe for use by any number of threads.
 */
final class CompactionRequests {
  @GuardedBy("this")
  private long wanted;

  @GuardedBy("this")
  private long begun;

  @GuardedBy("this")
  private long done;

  @GuardedBy("this")
  private boolean running;

  /** Requests a compaction; returns its number. */
  synchronized long request() {
    wanted = begun + 1;
    return wanted;
  }

  /** Whether the compaction of that number, or a later one, is done. */
  synchronized boolean isDone(long number) {
    return done >= number;
  }

  /** Whether a requested compaction is neither done nor running: one is to be started. */
  synchronized boolean needsStart() {
    return running ? wanted > begun : wanted > done;
  }

  /**
   * Begins a compaction, if one is wanted and none is running.
   *
   * @return its number, for {@link #ended}
   */
  synchronized OptionalLong begin() {
    if (running || wanted <= done) {
      return OptionalLong.empty();
    }
    running = true;
    begun++;
    return OptionalLong.of(begun);
  }

  /** The compaction of that number is over; if it was not made, another is wanted. */
  synchronized void ended(long number, boolean made) {
    running = false;
    if (made) {
      done = number;
    }
  }
}
