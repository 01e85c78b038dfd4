package io.stele.sstable;

/**
 * What of SSTables is in memory. One cache serves all files of a process; implementations are safe
 * for use by any number of threads.
 */
public interface BlockCache {
  /**
   * A file's part of the cache, to be closed with the file.
   *
   * @param fileId the id in the file, which no other has
   * @param length the file's length in bytes
   */
  CachedFile open(long fileId, long length, FileCaching caching);

  /** What the cache did so far. */
  CacheStatistics statistics();
}
