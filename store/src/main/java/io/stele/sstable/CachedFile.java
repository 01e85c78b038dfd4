package io.stele.sstable;

import java.util.Map;
import java.util.Optional;

/**
 * What a cache has of one open file: blocks ready for use, blocks as they are in the file, rows.
 * Whoever reads the file asks here first and tells what it found. Safe for use by any number of
 * threads.
 */
interface CachedFile extends AutoCloseable {
  /** The block at {@code offset}, ready for use; counted as a hit. */
  Optional<CachedBlock> block(BlockKind kind, long offset);

  /**
   * The bytes of the block at {@code offset} as they are in the file: to be checked and decoded.
   */
  Optional<byte[]> storedBlock(long offset);

  /** Takes a block that was decoded from {@link #storedBlock}; counted as a hit off the heap. */
  void decoded(BlockKind kind, long offset, CachedBlock block);

  /** Forgets what {@link #storedBlock} gave: it was damaged. */
  void storedBlockDamaged(long offset);

  /** Takes a block that had to be read from the file; counted as a miss. */
  void read(BlockKind kind, Handle handle, CachedBlock block, StoredBlock stored);

  /** Whether single rows are kept at all. */
  boolean keepsRows();

  /** What the file has of a row, counted as a hit; nothing: not known, counted as a miss. */
  Optional<CachedRow> row(CacheKey.Row row);

  /**
   * Whether {@link #keepRow} is welcome: the row has been asked for before.
   *
   * @param memoryOnly whether the row is about to be read only if that takes no waiting: the same
   *     read may then come again
   */
  boolean wantsRow(CacheKey.Row row, boolean memoryOnly);

  /** Takes what the file has of a row. */
  void keepRow(CacheKey.Row row, CachedRow cells);

  /** Whether all of the file should be loaded before anything else is read. */
  boolean wantsWhole();

  /** Reserves memory for loading all of the file; false: there is no room for it. */
  boolean reserve(long bytes);

  /** Takes all blocks of the file, by offset, for which memory was reserved. */
  void keepWhole(Map<Long, CachedBlock> blocks);

  /**
   * Gives back what was reserved.
   *
   * @param again whether to try once more at the next read
   */
  void giveUpWhole(boolean again);

  /** Lets go of what is held for the file. */
  @Override
  void close();
}
