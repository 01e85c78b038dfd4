package io.stele.sstable;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.Policy;
import com.github.benmanes.caffeine.cache.RemovalCause;
import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.stele.model.CachePriority;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * Blocks and rows on the heap, within one bound: those of high priority have up to a quarter of it
 * for themselves, files held whole have up to half of it, the others have the rest. Safe for use by
 * any number of threads.
 */
final class CaffeineHeap {
  private static final int HIGH_PARTS = 4;
  private static final int WHOLE_PARTS = 2;

  /** Blocks of high priority get their share in steps; one step is this part of the bound. */
  private static final int STEP_PARTS = 64;

  private final long bytesMax;
  private final long stepBytes;
  private final LongAdder evictions = new LongAdder();
  private final Cache<CacheKey, CachedBlock> normal;
  private final Cache<CacheKey, CachedBlock> high;

  @GuardedBy("this")
  private long highGrant;

  @GuardedBy("this")
  private long wholeBytes;

  /**
   * @param bytesMax bound of the memory of all entries
   */
  CaffeineHeap(long bytesMax) {
    this.bytesMax = bytesMax;
    this.stepBytes = Math.max(1, bytesMax / STEP_PARTS);
    this.normal = part(bytesMax);
    this.high = part(bytesMax / HIGH_PARTS);
  }

  private Cache<CacheKey, CachedBlock> part(long bytes) {
    // Evictions run in the thread that caused them: the cache owns no threads.
    return Caffeine.newBuilder()
        .maximumWeight(bytes)
        .weigher((CacheKey key, CachedBlock block) -> key.weight() + block.weight())
        .executor(Runnable::run)
        .evictionListener(
            (@Nullable CacheKey key, @Nullable CachedBlock block, RemovalCause cause) ->
                evictions.increment())
        .build();
  }

  Optional<CachedBlock> get(CacheKey key, CachePriority priority) {
    return Optional.ofNullable(part(priority).getIfPresent(key));
  }

  void put(CacheKey key, CachePriority priority, CachedBlock block) {
    part(priority).put(key, block);
    if (priority == CachePriority.HIGH) {
      grant();
    }
  }

  /** Reserves memory for a file held whole, if there is enough. */
  synchronized boolean reserve(long bytes) {
    if (wholeBytes + bytes > bytesMax / WHOLE_PARTS) {
      return false;
    }
    wholeBytes += bytes;
    resizeNormal();
    return true;
  }

  synchronized void release(long bytes) {
    wholeBytes -= bytes;
    resizeNormal();
  }

  void removeFiles(Set<Long> fileIds) {
    normal.asMap().keySet().removeIf(key -> fileIds.contains(key.fileId()));
    high.asMap().keySet().removeIf(key -> fileIds.contains(key.fileId()));
    grant();
  }

  long evictions() {
    return evictions.sum();
  }

  /** Memory taken by blocks and rows now, in bytes, without files held whole. */
  long bytes() {
    return weight(normal) + weight(high);
  }

  synchronized long wholeBytes() {
    return wholeBytes;
  }

  private Cache<CacheKey, CachedBlock> part(CachePriority priority) {
    return priority == CachePriority.HIGH ? high : normal;
  }

  /** Adapts the share of high priority to what it needs. */
  private synchronized void grant() {
    long needed = weight(high);
    if (needed > highGrant || needed < highGrant - 2 * stepBytes) {
      highGrant = Math.min(bytesMax / HIGH_PARTS, (needed / stepBytes + 1) * stepBytes);
      resizeNormal();
    }
  }

  @GuardedBy("this")
  private void resizeNormal() {
    eviction(normal).setMaximum(bytesMax - highGrant - wholeBytes);
  }

  private static long weight(Cache<CacheKey, CachedBlock> part) {
    return eviction(part).weightedSize().orElseThrow();
  }

  private static Policy.Eviction<CacheKey, CachedBlock> eviction(
      Cache<CacheKey, CachedBlock> part) {
    return part.policy().eviction().orElseThrow();
  }
}
