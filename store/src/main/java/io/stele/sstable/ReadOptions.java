package io.stele.sstable;

/**
 * How a cursor reads its blocks.
 *
 * @param cache whether data blocks are looked for in the cache and put there; index and Bloom
 *     filter blocks always are
 * @param readaheadBytes the most that is read ahead of the block needed; the read-ahead grows from
 *     nothing to this as the cursor goes on; 0: none
 * @param memoryOnly whether to fail with {@link NotInMemoryException} instead of reading the file
 */
public record ReadOptions(boolean cache, int readaheadBytes, boolean memoryOnly) {
  /** For a row or a few: caches, reads no further than needed. */
  public static final ReadOptions POINT = new ReadOptions(true, 0, false);

  /** For scans of users: caches, reads up to 256 KiB ahead. */
  public static final ReadOptions SCAN = new ReadOptions(true, 256 << 10, false);

  /**
   * For compactions and jobs: bypasses the cache, reads up to 1 MiB ahead. The arrays of values are
   * reused: a value is valid until the cursor's next move.
   */
  public static final ReadOptions COMPACTION = new ReadOptions(false, 1 << 20, false);

  /** Never waits for the file: {@link NotInMemoryException} where a block is not in the cache. */
  public static final ReadOptions MEMORY_ONLY = new ReadOptions(true, 0, true);

  public ReadOptions {
    if (readaheadBytes < 0 || readaheadBytes > 64 << 20) {
      throw new IllegalArgumentException(
          "readahead must be 0 to 64 MiB, not " + readaheadBytes + " bytes");
    }
  }
}
