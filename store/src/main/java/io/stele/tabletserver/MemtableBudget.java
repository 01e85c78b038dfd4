package io.stele.tabletserver;

import io.stele.log.LogKind;
import io.stele.model.SteleException;

/**
 * What the memtables of one kind of tablets may take together. Near the bound the largest are
 * compacted; at it writes are refused, before the heap is in danger.
 *
 * <p>Root and METADATA have a budget of their own, as a server full of user data must still be able
 * to write METADATA. Safe for use by any number of threads; the sum is taken by the scheduler at
 * each of its rounds.
 */
final class MemtableBudget {
  private static final double COMPACT_ABOVE = 0.6;

  private final long bytesMax;
  private volatile long bytes;

  MemtableBudget(long bytesMax) {
    this.bytesMax = bytesMax;
  }

  /** Sets what is used now. */
  void set(long bytesNow) {
    bytes = bytesNow;
  }

  long bytes() {
    return bytes;
  }

  /** Whether memtables should be compacted although none is large by itself. */
  boolean isTight() {
    return bytes > bytesMax * COMPACT_ABOVE;
  }

  /**
   * Refuses a write where there is no room for it.
   *
   * @throws SteleException RETRY_LATER
   */
  void requireRoom(LogKind kind) {
    if (bytes > bytesMax) {
      throw SteleException.retryLater(
          "the memtables of this server's "
              + kind
              + " tablets have "
              + bytes
              + " bytes, of "
              + bytesMax
              + " allowed, and are being compacted: try again in a moment");
    }
  }
}
