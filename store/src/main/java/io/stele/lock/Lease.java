package io.stele.lock;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.stele.runtime.Durations;
import io.stele.runtime.ProcessRuntime;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;

/**
 * How long a server may answer without a renewal: {@code length} from the moment its last
 * successful renewal was <em>sent</em>.
 *
 * <p>It is measured by two clocks and is over when either says so, because a suspended machine
 * freezes the monotonic clock and an operator may set the wall clock. A renewal holds for {@code
 * length}, and for at most {@link #SESSION_SHARE} of the session's timeout, and for less if the
 * renewal before it was long ago: then the lease is over before the lock service ends the session
 * for its silence. So a master that finds the lock gone waits only where something else may have
 * taken it away; then it waits {@code length} (plus the clocks' drift), so that no answer given
 * under the lease can be older than one of the successor.
 *
 * <p>A lease is not valid before the first renewal and never again after {@link #revoke()}. {@link
 * #valid()} reads a few volatiles and two clocks and may be called for every request.
 */
public final class Lease {
  /**
   * The part of a session's timeout that a lease may last. The service counts the timeout from the
   * last sign of life that its leader has heard of. Another of its servers may have passed on a
   * renewal and been lost before it told the leader that the session lives; the sign of life before
   * that is at most a third of the timeout older. Clocks run apart by less than the rest.
   */
  public static final double SESSION_SHARE = 0.6;

  /**
   * The part of a session's timeout that a lease may last, counted from the renewal before the
   * last. If the process stood still between the two, the earlier may be the last sign of life that
   * the service knows of.
   */
  private static final double SILENCE_SHARE = 0.9;

  private final ProcessRuntime runtime;
  private final Duration length;

  @GuardedBy("this")
  private long lastSentNanos; // Of the renewals that were accepted.

  @GuardedBy("this")
  private long lastSentMillis;

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
   * before it was sent. Call it four times in {@link #lengthWithin} or so.
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
      Duration holds = lengthWithin(lock);
      if (granted) {
        holds = Durations.min(holds, lengthAfter(silence(sentNanos, sentMillis), lock));
      }
      if (!granted || sentNanos - lastSentNanos > 0) { // The clock may pass the end of its range.
        lastSentNanos = sentNanos;
        lastSentMillis = sentMillis;
      }
      long endNanos = sentNanos + holds.toNanos();
      if (!granted || endNanos - monotonicEndNanos > 0) { // A renewal sent later may be back first.
        monotonicEndNanos = endNanos;
        wallEndMillis = sentMillis + holds.toMillis();
        granted = true;
      }
    }
    return renewed;
  }

  /** How long a renewal of {@code lock} holds: shorter than {@link #length} in a short session. */
  public Duration lengthWithin(Lock lock) {
    return Durations.min(part(lock.sessionTimeout(), SESSION_SHARE), length);
  }

  /** How long before that moment the last renewal was sent, by the clock that says more. */
  @GuardedBy("this")
  private Duration silence(long sentNanos, long sentMillis) {
    Duration monotonic = Duration.ofNanos(Math.max(0, sentNanos - lastSentNanos));
    Duration wall = Duration.ofMillis(sentMillis - lastSentMillis);
    return monotonic.compareTo(wall) > 0 ? monotonic : wall;
  }

  /** How long a renewal may hold at most if it was sent {@code silence} after the one before it. */
  private static Duration lengthAfter(Duration silence, Lock lock) {
    return part(lock.sessionTimeout(), SILENCE_SHARE).minus(silence);
  }

  private static Duration part(Duration time, double share) {
    return Duration.ofNanos((long) (time.toNanos() * share));
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
