package io.stele.sstable;

import io.stele.config.MemoryPlan;
import io.stele.runtime.MemoryClaim;

/**
 * How a cursor reads its blocks.
 *
 * @param cache what data blocks have to do with the cache; index and Bloom filter blocks are always
 *     looked for there and put there
 * @param readaheadBytes the most that is read ahead of the block needed; the read-ahead grows to
 *     this as the cursor goes on; 0: none
 * @param firstBytes how much of a file is read at first, but not less than a block
 * @param memoryOnly whether to fail with {@link NotInMemoryException} instead of reading the file
 * @param memory asked before a large block is read
 */
public record ReadOptions(
    Cache cache, int readaheadBytes, int firstBytes, boolean memoryOnly, MemoryClaim memory) {
  /** What data blocks have to do with the cache. */
  public enum Cache {
    /** Nothing. */
    NONE,
    /** They are looked for there, but not put there. */
    LOOK,
    /** They are looked for and put there. */
    KEEP
  }

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

  private static final int READAHEAD_BYTES_MIN = 128 << 10;

  /** A compaction of more files than this reads more ahead than it is allowed to. */
  public static final int COMPACTION_FILES_MAX = MemoryPlan.READAHEAD_BYTES / READAHEAD_BYTES_MIN;

  /**
   * A compaction that merges so many files: all together read up to 4 MiB ahead, if they are at
   * most {@link #COMPACTION_FILES_MAX}.
   */
  public static ReadOptions compaction(int files, MemoryClaim memory) {
    int readahead = Math.max(READAHEAD_BYTES_MIN, MemoryPlan.READAHEAD_BYTES / files);
    return new ReadOptions(false, Math.min(COMPACTION.readaheadBytes(), readahead), false)
        .claiming(memory);
  }

  /** For a scan that is made once: keeps nothing, reads up to 1 MiB ahead. */
  public static ReadOptions once(MemoryClaim memory) {
    return new ReadOptions(Cache.LOOK, COMPACTION.readaheadBytes(), 0, false, memory);
  }

  /** The same, with large blocks claimed. */
  public ReadOptions claiming(MemoryClaim claim) {
    return new ReadOptions(cache, readaheadBytes, firstBytes, memoryOnly, claim);
  }

  /** The same, with so much of a file read at first, as far as that is not more than ever. */
  public ReadOptions first(long bytes) {
    int first = (int) Math.min(bytes, readaheadBytes);
    return new ReadOptions(cache, readaheadBytes, first, memoryOnly, memory);
  }

  /** With nobody to ask; without a cache, as much is read at first as ever. */
  public ReadOptions(boolean cache, int readaheadBytes, boolean memoryOnly) {
    this(
        cache ? Cache.KEEP : Cache.NONE,
        readaheadBytes,
        cache ? 0 : readaheadBytes,
        memoryOnly,
        MemoryClaim.NONE);
  }

  public ReadOptions {
    if (readaheadBytes < 0 || readaheadBytes > 64 << 20) {
      throw new IllegalArgumentException(
          "readahead must be 0 to 64 MiB, not " + readaheadBytes + " bytes");
    }
  }
}
