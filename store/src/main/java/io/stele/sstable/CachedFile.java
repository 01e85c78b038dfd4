package io.stele.sstable;

import java.util.Map;
import java.util.Optional;

/**
 * A cache's part for one open file: decoded blocks, blocks as stored in the file, rows. A reader of
 * the file asks here first, and puts here what it read. Safe for use by any number of threads.
 */
interface CachedFile extends AutoCloseable {
  /** The decoded block at {@code offset}; counted as a hit. */
  Optional<CachedBlock> block(BlockKind kind, long offset);

  /** The stored bytes of the block at {@code offset}, which the caller checks and decodes. */
  Optional<byte[]> storedBlock(long offset);

  /** Takes a block that was decoded from {@link #storedBlock}; counted as a hit off the heap. */
  void decoded(BlockKind kind, long offset, CachedBlock block);

  /** Forgets what {@link #storedBlock} gave: it was damaged. */
  void storedBlockDamaged(long offset);

  /** Takes a block that had to be read from the file; counted as a miss. */
  void read(BlockKind kind, Handle handle, CachedBlock block, StoredBlock stored);

  /** Whether single rows are kept at all. */
  boolean keepsRows();

  /** The file's cells of a row, counted as a hit; empty: not cached, counted as a miss. */
  Optional<CachedRow> row(CacheKey.Row row);

  /**
   * Whether the caller should call {@link #keepRow}: the row has been asked for before.
   *
   * @param memoryOnly whether this read fails rather than waits: the same read may then come again
   */
  boolean wantsRow(CacheKey.Row row, boolean memoryOnly);

  /** Takes the file's cells of a row. */
  void keepRow(CacheKey.Row row, CachedRow cells);

  /** Whether all of the file should be loaded before anything else is read. */
  boolean wantsWhole();

  /**
   * Reserves memory for loading all of the file; false: there is no room for it. Less than 0 gives
   * back some of what was reserved.
   */
  boolean reserve(long bytes);

  /** Takes all blocks of the file, by offset, for which memory was reserved. */
  void keepWhole(Map<Long, CachedBlock> blocks);

  /**
   * Releases what was reserved.
   *
   * @param again whether to try once more at the next read
   */
  void giveUpWhole(boolean again);

  /** Releases all that is held for the file. */
  @Override
  void close();
}
