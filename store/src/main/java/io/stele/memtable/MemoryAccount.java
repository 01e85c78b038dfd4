package io.stele.memtable;

/**
 * Is told what memory memtables take and let go: the other end of a budget.
 *
 * <p>A memtable tells of every array it takes before any cell is in it, and of all of them at once
 * when nobody uses it any more. Called with the locks of a write held: implementations are short,
 * throw nothing, and are safe for use by any number of threads.
 */
public interface MemoryAccount {
  /** For memtables that nobody counts. */
  MemoryAccount NONE =
      new MemoryAccount() {
        @Override
        public void take(long bytes) {}

        @Override
        public void letGo(long bytes) {}
      };

  /** A memtable has taken {@code bytes} more. */
  void take(long bytes);

  /** A memtable has let {@code bytes} go. */
  void letGo(long bytes);
}
