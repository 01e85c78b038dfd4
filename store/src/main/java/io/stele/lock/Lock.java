package io.stele.lock;

import io.stele.model.Bytes;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;

/**
 * An exclusive lock: a node that lives as long as the session that created it.
 *
 * <p>Once lost, a lock stays lost; a new session does not bring it back. Safe for use by any number
 * of threads.
 */
public interface Lock {
  /** The lock's node, relative to the service's root. */
  String path();

  /**
   * Whether nothing is known yet that ended the lock. A process cut off from the quorum learns of
   * the loss late: what must not happen after the loss must check a {@link Lease} instead.
   */
  boolean isHeld();

  /**
   * Rewrites the lock's node: a write that a quorum has accepted from the session that owns the
   * lock, so that at some moment between call and return the lock was held.
   *
   * @return when that was, by the service's clock
   * @throws LockLostException if the lock is gone for good
   * @throws IOException if it is not known whether the write arrived; the lock may still be held
   */
  Instant renew() throws IOException;

  /**
   * Like {@link #renew()}, with other data from now on.
   *
   * @throws LockLostException if the lock is gone for good
   * @throws IOException if it is not known whether the write arrived; the lock may still be held
   */
  void update(Bytes data) throws IOException;

  /**
   * How long the service waits for a silent process before it ends its session, and the lock with
   * it: as agreed between the two.
   */
  Duration sessionTimeout();

  /**
   * Runs {@code action} once when the lock is lost: soon, on a thread of the service, or at once
   * where it is lost already. A lock that was released is not lost. Several actions run in the
   * order they were given.
   */
  void onLost(Runnable action);

  /**
   * Gives the lock up: its node is deleted. Where the service cannot be reached, the node goes with
   * the session. Does nothing when the lock is not held any more.
   */
  void release();
}
