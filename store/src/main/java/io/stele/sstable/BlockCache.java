package io.stele.sstable;

/**
 * The parts of SSTables that are kept in memory. One cache serves all files of a process;
 * implementations are safe for use by any number of threads.
 */
public interface BlockCache {
  /**
   * A file's part of the cache, to be closed with the file.
   *
   * @param fileId the file's id, which no other file has
   * @param length the file's length in bytes
   */
  CachedFile open(long fileId, long length, FileCaching caching);

  /** What the cache has done so far. */
  CacheStatistics statistics();
}
