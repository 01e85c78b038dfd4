package io.stele.sstable;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.stele.model.CachePriority;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/**
 * A cache within one memory budget: decoded blocks and single rows on the heap, stored blocks off
 * the heap, and whole files. A scan does not evict what is read often (W-TinyLFU). Safe for use by
 * any number of threads.
 *
 * <p>Only servers load this class: Caffeine is not on a job's class path.
 */
public final class CaffeineBlockCache implements BlockCache {
  /**
   * Blocks of closed files are looked for when they could fill this fraction of the heap's part.
   */
  private static final int CLOSED_PARTS = 16;

  private static final int DOORKEEPER_PARTS = 256;

  private final long bytesMax;
  private final long heapBytesMax;
  private final CaffeineHeap heap;
  private final Optional<CaffeineOffHeap> offHeap;
  private final Doorkeeper rowsSeen;
  private final Map<CacheStatistics.Kind, Counter> counters =
      new EnumMap<>(CacheStatistics.Kind.class);
  private final AtomicLong wholeFiles = new AtomicLong();
  private final LongAdder refusedFiles = new LongAdder();
  private final LongAdder damagedBlocks = new LongAdder();

  @GuardedBy("closedFiles")
  private final Set<Long> closedFiles = new HashSet<>();

  @GuardedBy("closedFiles")
  private long closedBytes;

  /**
   * An empty cache.
   *
   * @param heapBytes the most memory taken on the heap
   * @param offHeapBytes the most memory taken off the heap; 0: none
   */
  public CaffeineBlockCache(long heapBytes, long offHeapBytes) {
    this.bytesMax = heapBytes + offHeapBytes;
    this.rowsSeen = new Doorkeeper(heapBytes / DOORKEEPER_PARTS);
    this.heapBytesMax = heapBytes - heapBytes / DOORKEEPER_PARTS;
    this.heap = new CaffeineHeap(heapBytesMax);
    this.offHeap =
        offHeapBytes >= DirectPages.PAGE_BYTES
            ? Optional.of(new CaffeineOffHeap(offHeapBytes))
            : Optional.empty();
    for (CacheStatistics.Kind kind : CacheStatistics.Kind.values()) {
      counters.put(kind, new Counter());
    }
  }

  @Override
  public CachedFile open(long fileId, long length, FileCaching caching) {
    return new OfFile(fileId, length, caching);
  }

  @Override
  public CacheStatistics statistics() {
    Map<CacheStatistics.Kind, CacheStatistics.Counts> counts =
        new EnumMap<>(CacheStatistics.Kind.class);
    counters.forEach((kind, counter) -> counts.put(kind, counter.counts()));
    return new CacheStatistics(
        counts,
        heap.evictions(),
        bytesMax,
        heap.bytes(),
        offHeap.map(CaffeineOffHeap::bytes).orElse(0L),
        wholeFiles.get(),
        heap.wholeBytes(),
        refusedFiles.sum(),
        damagedBlocks.sum());
  }

  /**
   * Drops entries of closed files when there may be many. They are never requested again, but those
   * that were requested often would stay long.
   */
  private void closed(long fileId, long length) {
    Set<Long> drop;
    synchronized (closedFiles) {
      closedFiles.add(fileId);
      closedBytes += length;
      if (closedBytes < heapBytesMax / CLOSED_PARTS) {
        return;
      }
      drop = Set.copyOf(closedFiles);
      closedFiles.clear();
      closedBytes = 0;
    }
    heap.removeFiles(drop);
    offHeap.ifPresent(blocks -> blocks.removeFiles(drop));
  }

  private Counter counter(CacheStatistics.Kind kind) {
    return Objects.requireNonNull(counters.get(kind)); // The constructor made one per kind.
  }

  private static final class Counter {
    final LongAdder heapHits = new LongAdder();
    final LongAdder wholeHits = new LongAdder();
    final LongAdder offHeapHits = new LongAdder();
    final LongAdder misses = new LongAdder();

    CacheStatistics.Counts counts() {
      return new CacheStatistics.Counts(
          heapHits.sum(), wholeHits.sum(), offHeapHits.sum(), misses.sum());
    }
  }

  private final class OfFile implements CachedFile {
    private final long fileId;
    private final long length;
    private final FileCaching caching;
    private volatile Map<Long, CachedBlock> whole = Map.of();
    private volatile boolean wantsWhole;

    @GuardedBy("this")
    private long reserved;

    @GuardedBy("this")
    private boolean closed;

    OfFile(long fileId, long length, FileCaching caching) {
      this.fileId = fileId;
      this.length = length;
      this.caching = caching;
      this.wantsWhole = caching.inMemory();
    }

    @Override
    public Optional<CachedBlock> block(BlockKind kind, long offset) {
      Counter counter = counter(kind);
      if (caching.inMemory()) {
        CachedBlock block = whole.get(offset);
        if (block != null) {
          counter.wholeHits.increment();
          return Optional.of(block);
        }
      }
      if (!keeps(kind)) {
        return Optional.empty();
      }
      Optional<CachedBlock> block = heap.get(key(offset), caching.priority());
      if (block.isPresent()) {
        counter.heapHits.increment();
      }
      return block;
    }

    @Override
    public Optional<byte[]> storedBlock(long offset) {
      return offHeap.isPresent() ? offHeap.get().get(key(offset)) : Optional.empty();
    }

    @Override
    public void decoded(BlockKind kind, long offset, CachedBlock block) {
      counter(kind).offHeapHits.increment();
      keep(kind, offset, block);
    }

    @Override
    public void storedBlockDamaged(long offset) {
      damagedBlocks.increment();
      offHeap.orElseThrow().remove(key(offset));
    }

    @Override
    public void read(BlockKind kind, Handle handle, CachedBlock block, StoredBlock stored) {
      counter(kind).misses.increment();
      keep(kind, handle.offset(), block);
      if (keeps(kind) && offHeap.isPresent()) {
        offHeap.get().put(key(handle.offset()), stored.bytes(), stored.at(), handle.length());
      }
    }

    @Override
    public boolean keepsRows() {
      return !caching.inMemory() && caching.priority() != CachePriority.LOW;
    }

    @Override
    public Optional<CachedRow> row(CacheKey.Row row) {
      Counter counter = CaffeineBlockCache.this.counter(CacheStatistics.Kind.ROW);
      Optional<CachedBlock> cells = heap.get(row, caching.priority());
      (cells.isPresent() ? counter.heapHits : counter.misses).increment();
      return cells.map(CachedRow.class::cast);
    }

    @Override
    public boolean wantsRow(CacheKey.Row row, boolean memoryOnly) {
      return rowsSeen.knows(row.hash(), memoryOnly);
    }

    @Override
    public void keepRow(CacheKey.Row row, CachedRow cells) {
      heap.put(row, caching.priority(), cells);
    }

    @Override
    public boolean wantsWhole() {
      return wantsWhole;
    }

    @Override
    public synchronized boolean reserve(long bytes) {
      if (closed || !heap.reserve(bytes)) {
        return false;
      }
      reserved += bytes;
      return true;
    }

    @Override
    public synchronized void keepWhole(Map<Long, CachedBlock> blocks) {
      if (!closed) {
        whole = blocks;
        wantsWhole = false;
        wholeFiles.incrementAndGet();
      }
    }

    @Override
    public synchronized void giveUpWhole(boolean again) {
      heap.release(reserved);
      reserved = 0;
      wantsWhole = again && !closed;
      if (!again) {
        refusedFiles.increment();
      }
    }

    @Override
    public synchronized void close() {
      if (closed) {
        return;
      }
      closed = true;
      wantsWhole = false;
      heap.release(reserved);
      reserved = 0;
      if (!whole.isEmpty()) {
        wholeFiles.decrementAndGet();
        whole = Map.of();
      }
      closed(fileId, length);
    }

    private void keep(BlockKind kind, long offset, CachedBlock block) {
      if (keeps(kind)) {
        heap.put(key(offset), caching.priority(), block);
      }
    }

    private boolean keeps(BlockKind kind) {
      return kind != BlockKind.DATA || caching.priority() != CachePriority.LOW;
    }

    private CacheKey.Block key(long offset) {
      return new CacheKey.Block(fileId, offset);
    }

    private Counter counter(BlockKind kind) {
      return CaffeineBlockCache.this.counter(CacheStatistics.Kind.of(kind));
    }
  }
}
