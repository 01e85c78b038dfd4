package io.stele.lock;

import io.stele.runtime.ProcessRuntime;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;

/**
 * How long a server may answer without asking: {@code length} from the moment its last successful
 * renewal was <em>sent</em>.
 *
 * <p>It counts on two clocks and is over when either says so, as a suspended machine freezes the
 * monotonic one and an operator may set the wall clock. Before the master assigns the server's
 * tablets to others, it waits {@code length} (plus the clocks' drift) after the lock is gone, so
 * that no answer given under the lease can be older than one of the successor.
 *
 * <p>A lease is not valid before the first renewal and never again after {@link #revoke()}. {@link
 * #valid()} reads a few volatiles and two clocks and may be called for every request.
 */
public final class Lease {
  private final ProcessRuntime runtime;
  private final Duration length;

  // Both ends come from the send time of a renewal. Between the two writes of one renewal a reader
  // sees one end of the renewal before it, which is the earlier one.
  private volatile boolean granted;
  private volatile long monotonicEndNanos;
  private volatile long wallEndMillis;
  private volatile boolean revoked;

  /**
   * A lease that was not renewed yet.
   *
   * @param length how long one renewal holds
   */
  public Lease(ProcessRuntime runtime, Duration length) {
    if (length.isNegative() || length.isZero()) {
      throw new IllegalArgumentException("a lease must have a positive length, not " + length);
    }
    this.runtime = runtime;
    this.length = length;
  }

  /** How long one renewal holds. */
  public Duration length() {
    return length;
  }

  /**
   * Renews {@code lock} by a quorum write and, if that succeeds, counts the lease from the moment
   * before it was sent. Call it every {@code length / 4} or so.
   *
   * @return when the lock service accepted the write, by its own clock
   * @throws LockLostException if the lock is gone for good: the lease runs out where it stood
   * @throws IOException if the write is not known to have succeeded: the lease stands where it
   *     stood
   */
  public Instant renew(Lock lock) throws IOException {
    long sentNanos = runtime.nanoTime();
    long sentMillis = runtime.wallClock().millis();
    Instant renewed = lock.renew();
    synchronized (this) {
      long endNanos = sentNanos + length.toNanos();
      if (!granted || endNanos - monotonicEndNanos > 0) { // A renewal sent later may be back first.
        monotonicEndNanos = endNanos;
        wallEndMillis = sentMillis + length.toMillis();
        granted = true;
      }
    }
    return renewed;
  }

  /**
   * Whether an answer may leave now. Ask after the request was evaluated, just before it leaves.
   */
  public boolean valid() {
    return granted
        && !revoked
        && runtime.nanoTime() - monotonicEndNanos < 0
        && runtime.wallClock().millis() < wallEndMillis;
  }

  /** What is left of the lease, by the clock that ends it first; zero when it is not valid. */
  public Duration remaining() {
    if (!valid()) {
      return Duration.ZERO;
    }
    long nanos = monotonicEndNanos - runtime.nanoTime();
    long millis = wallEndMillis - runtime.wallClock().millis();
    Duration left = Duration.ofNanos(Math.min(nanos, Duration.ofMillis(millis).toNanos()));
    return left.isNegative() ? Duration.ZERO : left;
  }

  /** Ends the lease for good, before its time: the lock was lost or the server stops. */
  public void revoke() {
    revoked = true;
  }
}
