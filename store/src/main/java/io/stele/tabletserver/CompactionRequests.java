package io.stele.tabletserver;

import com.google.errorprone.annotations.concurrent.GuardedBy;

/**
 * The major compactions of one tablet that users have requested.
 *
 * <p>Compactions have numbers, in the order in which they begin. A request gets the number of the
 * next one that begins, so that it rewrites whatever was in the tablet at the request. Requests
 * that come before it begins get the same number: they share it. The numbers are in memory only,
 * and mean nothing when the tablet is loaded again.
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

  /** Requests a compaction; returns its number. */
  synchronized long request() {
    wanted = begun + 1;
    return wanted;
  }

  /** Whether the compaction of that number, or a later one, is done. */
  synchronized boolean isDone(long number) {
    return done >= number;
  }

  /** Whether a requested compaction is not done yet. */
  synchronized boolean isAnyWanted() {
    return done < wanted;
  }

  /** A compaction begins; returns its number. */
  synchronized long begin() {
    return ++begun;
  }

  /** The compaction of that number was made. */
  synchronized void succeeded(long number) {
    done = Math.max(done, number);
  }
}
