package io.stele.sstable;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.RemovalCause;
import java.lang.invoke.VarHandle;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Blocks as they are in their files, off the heap. Safe for use by any number of threads.
 *
 * <p>Readers are not counted: a block's pages may be reused while a reader copies it. The reader
 * notices afterwards, and reports a miss.
 */
final class CaffeineOffHeap {
  /** Room for blocks that are written while the ones they replace are still here. */
  private static final int SLACK_PARTS = 32;

  private final DirectPages memory;
  private final Cache<CacheKey, Place> places;

  /**
   * @param bytesMax the most memory taken off the heap
   */
  CaffeineOffHeap(long bytesMax) {
    this.memory = new DirectPages(bytesMax);
    this.places =
        Caffeine.newBuilder()
            .maximumWeight(bytesMax - bytesMax / SLACK_PARTS)
            .weigher((CacheKey key, Place place) -> place.pages.length * DirectPages.PAGE_BYTES)
            .executor(Runnable::run)
            .removalListener(
                (@Nullable CacheKey key, @Nullable Place place, RemovalCause cause) -> free(place))
            .build();
  }

  /** A copy of the block's bytes. */
  Optional<byte[]> get(CacheKey.Block key) {
    Place place = places.getIfPresent(key);
    if (place == null) {
      return Optional.empty();
    }
    byte[] bytes = memory.read(place.pages, place.length);
    VarHandle.loadLoadFence(); // What was copied is old only if the pages were free before here.
    return place.free ? Optional.empty() : Optional.of(bytes);
  }

  /** Takes a copy of a block's bytes, unless there is no room. */
  void put(CacheKey.Block key, byte[] bytes, int at, int length) {
    int count = DirectPages.pagesFor(length);
    int[] pages = memory.take(count);
    if (pages.length < count) {
      places.cleanUp();
      pages = memory.take(count);
      if (pages.length < count) {
        return;
      }
    }
    memory.write(pages, bytes, at, length);
    places.put(key, new Place(pages, length));
  }

  void remove(CacheKey.Block key) {
    places.invalidate(key);
  }

  void removeFiles(Set<Long> fileIds) {
    places.asMap().keySet().removeIf(key -> fileIds.contains(key.fileId()));
  }

  /** Memory taken by blocks now, in bytes. */
  long bytes() {
    places.cleanUp();
    return places.policy().eviction().orElseThrow().weightedSize().orElseThrow();
  }

  private void free(@Nullable Place place) {
    if (place == null) {
      return; // Only a cache of weak values tells of one that is gone.
    }
    place.free = true;
    VarHandle.storeStoreFence(); // Before anything else is written to the pages.
    memory.give(place.pages);
  }

  /** Where a block is. */
  private static final class Place {
    final int[] pages;
    final int length;
    volatile boolean free;

    Place(int[] pages, int length) {
      this.pages = pages;
      this.length = length;
    }
  }
}
