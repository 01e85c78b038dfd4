package io.stele.memtable;

import io.stele.format.CellCursor;
import io.stele.format.CellType;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/**
 * Sorted cells in memory.
 *
 * <p>Always holds: a cell once added stays, unchanged, for as long as the memtable is used; and all
 * cells of a memtable have a higher sequence number than those of the one before it.
 *
 * <p>Any number of threads may read while others add; readers take no lock. A reader sees every
 * cell whose adding ended before its cursor was placed, as far as its read point lets it, and may
 * or may not see later ones: so a read point is only ever one whose cells were all added before.
 */
public final class Memtable {
  private final ConcurrentSkipListSet<MemtableCell> cells =
      new ConcurrentSkipListSet<>(MemtableCell.ORDER);
  private final AtomicLong bytes = new AtomicLong();
  private final LongAdder cellCount = new LongAdder();
  private volatile boolean tombstones;
  private volatile boolean frozen;
  private final MemoryAccount account;
  private final AtomicInteger holders = new AtomicInteger(1);

  /** An empty memtable whose maker is the first holder and that nobody counts. */
  public Memtable() {
    this(MemoryAccount.NONE);
  }

  /** An empty memtable whose maker is the first holder and whose memory {@code account} counts. */
  public Memtable(MemoryAccount account) {
    this.account = account;
  }

  /**
   * Adds a cell; the arrays are taken over and must not change again. A cell that is there already
   * (the same log record replayed twice) changes nothing.
   */
  public void add(
      byte[] key, long timestamp, long sequence, int ordinal, CellType type, byte[] value) {
    if (frozen) {
      throw new IllegalStateException("a frozen memtable takes no cell");
    }
    MemtableCell cell = new MemtableCell(key, timestamp, sequence, ordinal, type, value);
    if (type.isTombstone()) {
      tombstones = true;
    }
    if (cells.add(cell)) {
      bytes.addAndGet(cell.bytes());
      account.take(cell.bytes());
      cellCount.increment();
    }
  }

  /** The cells with a sequence number of {@code readPoint} or below. */
  public CellCursor cursor(long readPoint) {
    return new MemtableCursor(cells, readPoint);
  }

  /** Memory taken, to within a few percent, in bytes. */
  public long bytes() {
    return bytes.get();
  }

  /** Number of cells. */
  public long cellCount() {
    return cellCount.sum();
  }

  /** Whether there are no cells. */
  public boolean isEmpty() {
    return cells.isEmpty();
  }

  /** Whether any of the cells is a tombstone. */
  public boolean hasTombstones() {
    return tombstones;
  }

  /** Refuses cells from now on. Who calls this sees to it that nobody is adding. */
  public void freeze() {
    frozen = true;
  }

  /** Holds the memtable; who calls this holds it already by another hold. */
  public void retain() {
    holders.incrementAndGet();
  }

  /**
   * Lets the memtable go; with its last holder goes its memory, and no cursor of it may be used any
   * more.
   */
  public void release() {
    if (holders.decrementAndGet() == 0) {
      account.letGo(bytes.get());
    }
  }
}
