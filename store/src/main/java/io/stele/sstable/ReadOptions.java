package io.stele.sstable;

import io.stele.config.MemoryPlan;
import io.stele.runtime.MemoryClaim;

/**
 * How a cursor reads its blocks.
 *
 * @param cache whether data blocks are looked for in the cache and put there; index and Bloom
 *     filter blocks always are
 * @param readaheadBytes the most that is read ahead of the block needed; the read-ahead grows from
 *     nothing to this as the cursor goes on; 0: none
 * @param memoryOnly whether to fail with {@link NotInMemoryException} instead of reading the file
 * @param memory asked before a large block is read
 */
public record ReadOptions(
    boolean cache, int readaheadBytes, boolean memoryOnly, MemoryClaim memory) {
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

  /** A compaction that merges so many files: all together read up to 4 MiB ahead. */
  public static ReadOptions compaction(int files, MemoryClaim memory) {
    int readahead = Math.max(128 << 10, MemoryPlan.READAHEAD_BYTES / files);
    return new ReadOptions(false, Math.min(COMPACTION.readaheadBytes(), readahead), false, memory);
  }

  /** The same, with large blocks claimed. */
  public ReadOptions claiming(MemoryClaim claim) {
    return new ReadOptions(cache, readaheadBytes, memoryOnly, claim);
  }

  /** With nobody to ask. */
  public ReadOptions(boolean cache, int readaheadBytes, boolean memoryOnly) {
    this(cache, readaheadBytes, memoryOnly, MemoryClaim.NONE);
  }

  public ReadOptions {
    if (readaheadBytes < 0 || readaheadBytes > 64 << 20) {
      throw new IllegalArgumentException(
          "readahead must be 0 to 64 MiB, not " + readaheadBytes + " bytes");
    }
  }
}
