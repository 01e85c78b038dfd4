package io.stele.memtable;

/**
 * Counts the memory that memtables take and free: the other end of a budget.
 *
 * <p>A memtable reports each array before it puts cells in it, and all of them at once when nobody
 * uses it any more. Called with the locks of a write held: implementations must be short, must not
 * throw, and are safe for use by any number of threads.
 */
public interface MemoryAccount {
  /** Counts nothing. */
  MemoryAccount NONE =
      new MemoryAccount() {
        @Override
        public void take(long bytes) {}

        @Override
        public void release(long bytes) {}
      };

  /** A memtable has taken {@code bytes} more. */
  void take(long bytes);

  /** A memtable has freed {@code bytes}. */
  void release(long bytes);
}
