package io.stele.tablet;

import io.stele.model.SteleException;
import java.util.function.UnaryOperator;

/**
 * The present snapshot of a tablet, swapped by one volatile write. Safe for use by any number of
 * threads; readers take no lock.
 */
final class Snapshots {
  private final Object swapping = new Object();
  private volatile Snapshot current;
  private volatile boolean closed;

  Snapshots(Snapshot first) {
    current = first;
  }

  /** The present snapshot, for what needs none of its files. */
  Snapshot peek() {
    return current;
  }

  /**
   * The present snapshot, held: the caller releases it.
   *
   * @throws SteleException RETRY_LATER where the tablet was closed
   */
  Snapshot acquire() {
    while (true) {
      Snapshot now = current;
      if (closed) {
        throw SteleException.retryLater("the tablet is closed: locate the row again");
      }
      if (now.retain()) {
        return now;
      }
      // It was replaced just now: the next look finds another.
    }
  }

  /**
   * Replaces the present snapshot by what {@code change} makes of it.
   *
   * @throws SteleException RETRY_LATER where the tablet was closed
   */
  void swap(UnaryOperator<Snapshot> change) {
    Snapshot old;
    synchronized (swapping) {
      if (closed) {
        throw SteleException.retryLater("the tablet is closed: locate the row again");
      }
      old = current;
      current = change.apply(old);
    }
    old.release(); // It may close files.
  }

  /** Lets the files go as soon as nobody reads them. */
  void close() {
    synchronized (swapping) {
      if (closed) {
        return;
      }
      closed = true;
    }
    current.release(); // It may close files.
  }
}
