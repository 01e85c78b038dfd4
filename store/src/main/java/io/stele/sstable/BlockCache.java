package io.stele.sstable;

import java.io.IOException;
import java.util.Optional;

/**
 * Blocks of SSTables in memory, found by file and offset. One cache serves all files of a process;
 * implementations are safe for use by any number of threads.
 */
public interface BlockCache {
  /**
   * The block at {@code offset} of the file {@code fileId}, loaded if it is not here. Two threads
   * that miss at once may both load.
   */
  CachedBlock get(long fileId, long offset, Loader loader) throws IOException;

  /** The block if it is here. */
  Optional<CachedBlock> getIfPresent(long fileId, long offset);

  /** What the cache did so far. */
  Statistics statistics();

  /** Reads a block that the cache does not have. */
  @FunctionalInterface
  interface Loader {
    /** Reads, checks and decodes the block. */
    CachedBlock load() throws IOException;
  }

  /**
   * What a cache did since it was made.
   *
   * @param hits blocks found
   * @param misses blocks not found
   * @param evictions blocks dropped to make room
   * @param bytes memory that the blocks in it take now
   */
  record Statistics(long hits, long misses, long evictions, long bytes) {
    /** Of a cache that never did anything. */
    public static final Statistics NONE = new Statistics(0, 0, 0, 0);
  }
}
