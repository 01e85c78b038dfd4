package io.stele.memtable;

import io.stele.format.CellCursor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Sorted cells in memory.
 *
 * <p>A cell stays, unchanged, for as long as the memtable is held. All cells of a memtable have
 * higher sequence numbers than those of the memtable before it.
 *
 * <p>One thread at a time adds: a tablet adds under its sequence lock, or alone while it is opened.
 * Any number of threads read meanwhile, without a lock. A reader sees every cell that was added
 * before its cursor was placed, up to its read point. It may or may not see later ones, each whole
 * or not at all. So all cells up to a read point must have been added before it is used.
 *
 * <p>A reader holds the memtable: {@link #retain} before, {@link #release} after.
 */
public final class Memtable {
  private final MemoryAccount account;
  private final CellArena arena;
  private final CellSkipList cells;
  private final AtomicLong cellCount = new AtomicLong();
  private final AtomicInteger holders = new AtomicInteger(1);
  private volatile boolean tombstones;
  private volatile boolean frozen;
  private boolean adding;

  /** An empty memtable that its creator retains and that no budget counts. */
  public Memtable() {
    this(MemoryAccount.NONE);
  }

  /** An empty memtable whose maker is the first holder and whose memory {@code account} counts. */
  public Memtable(MemoryAccount account) {
    this.account = account;
    this.arena = new CellArena(account);
    this.cells = new CellSkipList(arena);
  }

  /**
   * Adds the current cell of {@code cell}; key and value are copied. A cell that the memtable
   * already has (a log record replayed twice) changes nothing.
   *
   * @throws IllegalStateException if the memtable is frozen or released, where another thread is
   *     seen to add at the same time, and where an earlier addition failed half-way
   */
  public void add(CellCursor cell) {
    if (frozen) {
      throw new IllegalStateException("a frozen memtable must not be changed");
    }
    if (adding) {
      throw new IllegalStateException(
          "two threads write to a memtable, or an earlier write failed halfway");
    }
    adding = true;
    if (cell.type().isTombstone()) {
      tombstones = true;
    }
    if (cells.add(cell)) {
      cellCount.setRelease(cellCount.getPlain() + 1);
    }
    adding = false;
  }

  /** The cells with a sequence number of {@code readPoint} or below. */
  public CellCursor cursor(long readPoint) {
    return new MemtableCursor(cells, readPoint);
  }

  /** How many bytes of heap it takes and reports to its account: whole chunks, used or not. */
  public long bytes() {
    return arena.bytes();
  }

  /** Number of cells. */
  public long cellCount() {
    return cellCount.get();
  }

  /** Whether there are no cells. */
  public boolean isEmpty() {
    return cells.first() == 0;
  }

  /** Whether any of the cells is a tombstone. */
  public boolean hasTombstones() {
    return tombstones;
  }

  /** Refuses cells from now on. No thread may be adding at the same time. */
  public void freeze() {
    frozen = true;
  }

  /** Holds the memtable once more; the caller must hold it already. */
  public void retain() {
    holders.incrementAndGet();
  }

  /**
   * Releases the memtable. The last holder's release frees its memory: no cursor of it may be used
   * after that.
   */
  public void release() {
    if (holders.decrementAndGet() == 0) {
      frozen = true;
      account.release(bytes());
    }
  }
}
