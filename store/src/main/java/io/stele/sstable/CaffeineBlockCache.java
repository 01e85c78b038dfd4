package io.stele.sstable;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.stats.CacheStats;
import java.io.IOException;
import java.util.Optional;

/**
 * A cache bounded by the memory of its blocks. What is read once by a scan does not push out what
 * is read often (W-TinyLFU). Safe for use by any number of threads.
 *
 * <p>Only servers load this class: Caffeine is not on a job's class path.
 */
public final class CaffeineBlockCache implements BlockCache {
  private final Cache<Key, CachedBlock> blocks;

  /**
   * An empty cache.
   *
   * @param bytesMax the most memory that the blocks in it take
   */
  public CaffeineBlockCache(long bytesMax) {
    // Evictions run in the thread that caused them: the cache owns no threads.
    blocks =
        Caffeine.newBuilder()
            .maximumWeight(bytesMax)
            .weigher((Key key, CachedBlock block) -> block.weight())
            .executor(Runnable::run)
            .recordStats()
            .build();
  }

  @Override
  public CachedBlock get(long fileId, long offset, Loader loader) throws IOException {
    Key key = new Key(fileId, offset);
    CachedBlock block = blocks.getIfPresent(key);
    if (block == null) {
      // Not loaded inside the cache: a slow read would hold up other blocks that hash near it.
      block = loader.load();
      blocks.put(key, block);
    }
    return block;
  }

  @Override
  public Optional<CachedBlock> getIfPresent(long fileId, long offset) {
    return Optional.ofNullable(blocks.getIfPresent(new Key(fileId, offset)));
  }

  @Override
  public Statistics statistics() {
    CacheStats stats = blocks.stats();
    long bytes =
        blocks.policy().eviction().map(eviction -> eviction.weightedSize().orElse(0)).orElse(0L);
    return new Statistics(stats.hitCount(), stats.missCount(), stats.evictionCount(), bytes);
  }

  private record Key(long fileId, long offset) {
    @Override
    public int hashCode() {
      return Long.hashCode(fileId * 0x9e3779b97f4a7c15L + offset);
    }
  }
}
