package io.stele.tabletserver;

import io.stele.log.LogKind;
import io.stele.memtable.MemoryAccount;
import io.stele.model.SteleException;
import java.util.concurrent.atomic.AtomicLong;

/**
 * What the memtables of one kind of tablets may take together. Near the bound the largest are
 * compacted; at it writes are refused, before the heap is in danger.
 *
 * <p>Root and METADATA have a budget of their own, as a server full of user data must still be able
 * to write METADATA. The sum is exact at every moment: memtables tell of what they take and let go.
 * Safe for use by any number of threads.
 */
final class MemtableBudget implements MemoryAccount {
  private static final double COMPACT_ABOVE = 0.6;

  private final long bytesMax;
  private final AtomicLong bytes = new AtomicLong();

  MemtableBudget(long bytesMax) {
    this.bytesMax = bytesMax;
  }

  @Override
  public void take(long taken) {
    bytes.addAndGet(taken);
  }

  @Override
  public void letGo(long gone) {
    bytes.addAndGet(-gone);
  }

  /** What the memtables take now. */
  long bytes() {
    return bytes.get();
  }

  /** Whether memtables should be compacted although none is large by itself. */
  boolean isTight() {
    return bytes() > bytesMax * COMPACT_ABOVE;
  }

  /**
   * Refuses a write where there is no room for it.
   *
   * @throws SteleException RETRY_LATER
   */
  void requireRoom(LogKind kind) {
    long now = bytes();
    if (now > bytesMax) {
      throw SteleException.retryLater(
          "the memtables of this server's "
              + kind
              + " tablets have "
              + now
              + " bytes, of "
              + bytesMax
              + " allowed, and are being compacted: try again in a moment");
    }
  }
}
