package io.stele.tabletserver;

import io.stele.config.Keys;
import io.stele.lock.Lease;
import io.stele.lock.Lock;
import io.stele.lock.LockLostException;
import io.stele.model.SteleException;
import io.stele.runtime.AgreedClock;
import io.stele.runtime.ProcessRuntime;
import io.stele.runtime.Task;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Renews the server's lease for as long as it can, on its own thread, and stops the server when it
 * cannot: a server without a lease must not answer, and one without its lock will be fenced.
 *
 * <p>With each renewal it compares the server's clock with the lock service's. If they do not agree
 * the first time, it stops the server.
 */
final class LeaseKeeper implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(LeaseKeeper.class);
  private static final int RENEWALS_PER_LEASE = 4;
  // Short: while the lock service is unavailable, a renewal itself waits for it.
  private static final Duration AGAIN = Duration.ofMillis(100);

  private final ProcessRuntime runtime;
  private final Lease lease;
  private final Lock lock;
  private final AgreedClock clock;
  private final Consumer<String> abort;
  private final Task task;
  private volatile boolean closed;

  private LeaseKeeper(
      ProcessRuntime runtime,
      Lease lease,
      Lock lock,
      AgreedClock clock,
      Consumer<String> abort,
      boolean renewed) {
    this.runtime = runtime;
    this.lease = lease;
    this.lock = lock;
    this.clock = clock;
    this.abort = abort;
    lock.onLost(
        () ->
            lose(
                "its lock "
                    + lock.path()
                    + " is gone: the master will give its tablets to other servers"));
    this.task = runtime.start("lease", () -> keep(renewed));
  }

  /**
   * Renews {@code lease} once, then keeps renewing. If the first renewal fails, the lease is not
   * valid until a later one succeeds.
   *
   * @param clock compared with the lock service's
   * @param abort told why when the lease or the lock is lost for good; may be called more than once
   * @throws LockLostException if the lock is already gone
   * @throws SteleException REFUSED if the server's clock differs from the lock service's
   */
  static LeaseKeeper start(
      ProcessRuntime runtime, Lease lease, Lock lock, AgreedClock clock, Consumer<String> abort)
      throws LockLostException {
    boolean renewed = false;
    try {
      Optional<String> refusal = renew(lease, lock, clock);
      if (refusal.isPresent()) {
        lease.revoke();
        throw SteleException.refused(refusal.get());
      }
      renewed = true;
      sayIfShorter(lease, lock);
    } catch (LockLostException e) {
      throw e;
    } catch (IOException e) {
      LOG.warn("Cannot get the first lease yet; will retry: {}", e.toString());
    }
    return new LeaseKeeper(runtime, lease, lock, clock, abort, renewed);
  }

  private static void sayIfShorter(Lease lease, Lock lock) {
    Duration holds = lease.lengthWithin(lock);
    if (holds.compareTo(lease.length()) < 0) {
      LOG.warn(
          "The lease lasts {} and not {}, as {} says: it lasts at most 0.6 of the session with"
              + " ZooKeeper, which is {} ({}, or less if ZooKeeper's maxSessionTimeout is less)",
          holds,
          lease.length(),
          Keys.LEASE.name(),
          lock.sessionTimeout(),
          Keys.SESSION_TIMEOUT.name());
    }
  }

  /** Renews the lease and compares the clocks; returns why the server must stop, if it must. */
  private static Optional<String> renew(Lease lease, Lock lock, AgreedClock clock)
      throws IOException {
    AgreedClock.Reading before = clock.read();
    Instant reference = lease.renew(lock);
    if (clock.compare(before, reference) || clock.hasAgreed()) {
      return Optional.empty();
    }
    return Optional.of(
        "this machine's clock shows "
            + before.wall()
            + " and ZooKeeper's "
            + reference
            + ". They differ by more than "
            + Keys.CLOCK_SKEW_MAX.name()
            + " allows. Correct the clock (NTP) and start the server again");
  }

  private void keep(boolean first) {
    boolean renewed = first;
    boolean saidThatItRanOut = false;
    while (!closed) {
      try {
        runtime.sleep(renewed ? pause() : AGAIN);
        Optional<String> refusal = renew(lease, lock, clock);
        if (refusal.isPresent()) {
          lose(refusal.get());
          return;
        }
        if (!renewed) {
          LOG.info("The lease is renewed again");
        }
        renewed = true;
        saidThatItRanOut = false;
      } catch (InterruptedException e) {
        return; // Closed.
      } catch (LockLostException e) {
        lose("its lock " + lock.path() + " is gone: " + e.getMessage());
        return;
      } catch (IOException e) {
        if (renewed) {
          LOG.warn(
              "Cannot renew the lease; {} of it are left: {}", lease.remaining(), e.toString());
        }
        renewed = false;
      } catch (RuntimeException | Error e) {
        // Without this thread the server would continue, but never answer again.
        lose("its lease cannot be kept: " + e);
        throw e;
      }
      if (!saidThatItRanOut && !lease.valid()) {
        // The lock may still be held, and a later renewal may succeed: until then nothing is
        // answered.
        LOG.warn("The lease has run out; no answers are sent until it is renewed");
        saidThatItRanOut = true;
      }
    }
  }

  private Duration pause() {
    return lease.lengthWithin(lock).dividedBy(RENEWALS_PER_LEASE);
  }

  private void lose(String why) {
    lease.revoke();
    if (!closed) {
      abort.accept(why);
    }
  }

  @Override
  public void close() {
    closed = true;
    task.interrupt();
  }
}
