package io.stele.sstable;

import java.util.Collections;
import java.util.EnumMap;
import java.util.Map;
import java.util.OptionalDouble;

/**
 * What a cache has done since it was made, and what it holds now.
 *
 * @param counts of each kind
 * @param evictions how many blocks and rows were dropped from the heap to make room
 * @param bytesMax bound of all memory that the cache takes
 * @param heapBytes taken by blocks and rows on the heap, without those of files held whole
 * @param offHeapBytes taken by blocks off the heap
 * @param wholeFiles number of files held whole
 * @param wholeBytes taken by files held whole
 * @param refusedFiles files that should be held whole but had no room or were damaged
 * @param damagedBlocks how many blocks were found damaged off the heap and read again from their
 *     files
 */
public record CacheStatistics(
    Map<Kind, Counts> counts,
    long evictions,
    long bytesMax,
    long heapBytes,
    long offHeapBytes,
    long wholeFiles,
    long wholeBytes,
    long refusedFiles,
    long damagedBlocks) {
  /** The statistics of an unused cache. */
  public static final CacheStatistics NONE = new CacheStatistics(Map.of(), 0, 0, 0, 0, 0, 0, 0, 0);

  /** Kinds of entries, counted apart. */
  public enum Kind {
    /** Data blocks. */
    DATA,
    /** Index blocks below the roots, which are held by open files. */
    INDEX,
    /** Bloom filter blocks. */
    BLOOM,
    /** Single rows: the scan cache. If a row is not found, its data block is looked up. */
    ROW;

    static Kind of(BlockKind kind) {
      return switch (kind) {
        case INDEX, BLOOM_INDEX -> INDEX;
        case BLOOM -> BLOOM;
        case DATA, PROPERTIES, META -> DATA;
      };
    }
  }

  /**
   * How often a kind was looked up.
   *
   * @param heapHits found ready for use
   * @param wholeHits found in a file held whole
   * @param offHeapHits found as it is in the file, and decoded
   * @param misses read from the file; for rows: not found, even if their block was
   */
  public record Counts(long heapHits, long wholeHits, long offHeapHits, long misses) {
    /** Nothing yet. */
    public static final Counts NONE = new Counts(0, 0, 0, 0);

    /** The part of all look-ups that found something, 0 to 1; empty if there were none. */
    public OptionalDouble hitRate() {
      long hits = heapHits + wholeHits + offHeapHits;
      return hits + misses == 0
          ? OptionalDouble.empty()
          : OptionalDouble.of(hits / (double) (hits + misses));
    }
  }

  public CacheStatistics {
    EnumMap<Kind, Counts> all = new EnumMap<>(Kind.class);
    for (Kind kind : Kind.values()) {
      all.put(kind, counts.getOrDefault(kind, Counts.NONE));
    }
    counts = Collections.unmodifiableMap(all);
  }

  /** The counts of one kind. */
  public Counts of(Kind kind) {
    return counts.getOrDefault(kind, Counts.NONE);
  }
}
