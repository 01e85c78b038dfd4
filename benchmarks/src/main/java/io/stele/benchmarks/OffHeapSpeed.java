package io.stele.benchmarks;

import io.stele.model.Bloom;
import io.stele.model.Codec;
import io.stele.sstable.CacheStatistics;
import io.stele.sstable.CaffeineBlockCache;
import io.stele.sstable.SSTableOptions;
import java.util.Locale;
import org.apache.hadoop.fs.Path;

/**
 * Prints what a row costs whose block is not on the heap: where it is off the heap, and where it
 * has to be read from the file system, which here has it in memory too.
 */
public final class OffHeapSpeed {
  private static final int ROWS = 1_000_000;
  private static final int READS = 8 * 1024;

  /** On the heap there is room for index and filter, and for few of the data blocks. */
  private static final long HEAP_BYTES = 6 << 20;

  private OffHeapSpeed() {}

  /** Of each file system named, {@code local} or {@code hdfs}. */
  public static void main(String[] args) throws Exception {
    for (String kind : args) {
      try (BenchmarkFiles files = BenchmarkFiles.open(kind)) {
        for (Codec codec : new Codec[] {Codec.NONE, Codec.LZ4, Codec.ZSTD}) {
          SSTableOptions options =
              SSTableOptions.DEFAULT.withCodec(codec).withBloom(Bloom.ROW_COLUMN);
          Path path = new Path(files.root(), codec + ".sst");
          SSTableFixture fixture = SSTableFixture.write(files.fs(), path, ROWS, 100, options);
          measure(kind, codec, fixture, 256 << 20);
          measure(kind, codec, fixture, 0);
        }
      }
    }
  }

  private static void measure(String kind, Codec codec, SSTableFixture fixture, long offHeapBytes)
      throws Exception {
    CaffeineBlockCache cache = new CaffeineBlockCache(HEAP_BYTES, offHeapBytes);
    SSTableReads reads = new SSTableReads(fixture, 1 << 16, cache);
    CpuTime.warmUp(reads::row);
    CacheStatistics.Counts before = cache.statistics().of(CacheStatistics.Kind.DATA);
    long start = System.nanoTime();
    double cpu = CpuTime.of(1, READS, reads::row);
    double elapsed = (System.nanoTime() - start) / (double) READS;
    CacheStatistics.Counts after = cache.statistics().of(CacheStatistics.Kind.DATA);
    System.out.printf(
        Locale.ROOT,
        "%-5s %-6s %-12s %6.1f us, of which CPU %6.1f us; found on the heap %2.0f %%, off it %2.0f %%%n",
        kind,
        codec.name().toLowerCase(Locale.ROOT),
        offHeapBytes == 0 ? "from file" : "off the heap",
        elapsed / 1e3,
        cpu / 1e3,
        100.0 * (after.heapHits() - before.heapHits()) / READS,
        100.0 * (after.offHeapHits() - before.offHeapHits()) / READS);
  }
}
