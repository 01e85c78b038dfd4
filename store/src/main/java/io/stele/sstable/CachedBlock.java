package io.stele.sstable;

/**
 * A block of an SSTable in memory, checked and uncompressed. Immutable, so safe for use by any
 * number of threads.
 */
public sealed interface CachedBlock permits DataBlock, IndexBlock, BloomBlock {
  /** The memory it takes, in bytes, roughly. */
  int weight();
}
