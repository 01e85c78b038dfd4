package io.stele.sstable;

/**
 * A block of an SSTable in memory, checked and uncompressed, or cells out of one. Immutable, so
 * safe for use by any number of threads.
 */
sealed interface CachedBlock permits DataBlock, IndexBlock, BloomBlock, CachedRow {
  /** About how many bytes of memory it takes. */
  int weight();
}
