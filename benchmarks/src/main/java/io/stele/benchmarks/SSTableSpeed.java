package io.stele.benchmarks;

import io.stele.model.Bloom;
import io.stele.model.Codec;
import io.stele.sstable.SSTableOptions;
import java.util.Locale;
import java.util.concurrent.Callable;

/**
 * Prints what SSTables cost in CPU time of one thread, beside the least that they can cost and the
 * targets, in one run.
 */
public final class SSTableSpeed {
  private static final int SCAN_BYTES = 32 << 20;
  private static final int QUERIES = 1 << 16;
  private static final int RUNS = 15;

  private SSTableSpeed() {}

  /** Takes a minute or two; needs a heap of 3 GB. */
  public static void main(String[] args) throws Exception {
    scan(1000, "target: at least 0.70");
    scan(20, "target: at least 10 M cells/s");
    rows(100_000);
    rows(1_000_000);
    falsePositives();
  }

  private static void scan(int valueBytes, String target) throws Exception {
    SSTableFixture fixture = SSTableFixture.ofBytes(SCAN_BYTES, valueBytes);
    SSTableReads reads = new SSTableReads(fixture, 1024);
    CpuTime.warmUp(reads::copyAndChecksum);
    CpuTime.warmUp(reads::scan);
    CpuTime.warmUp(reads::scanCached);
    double least = Double.MAX_VALUE;
    double scan = Double.MAX_VALUE;
    double cached = Double.MAX_VALUE;
    for (int run = 0; run < RUNS; run++) { // By turns, so that all see the same machine.
      least = Math.min(least, CpuTime.of(1, 4, reads::copyAndChecksum));
      scan = Math.min(scan, CpuTime.of(1, 4, reads::scan));
      cached = Math.min(cached, CpuTime.of(1, 4, reads::scanCached));
    }
    print("cells with values of %d bytes", valueBytes);
    print("  copy and CRC-32C of the file     %7.2f GB/s", reads.bytes() / least);
    print(
        "  scan, every block read           %7.2f GB/s, %.1f M cells/s, ratio %.2f   %s",
        reads.bytes() / scan, fixture.rows() * 1e3 / scan, least / scan, target);
    print(
        "  scan, every block in the cache   %7.2f GB/s, %.1f M cells/s",
        reads.bytes() / cached, fixture.rows() * 1e3 / cached);
  }

  private static void rows(int rows) throws Exception {
    SSTableReads reads = new SSTableReads(SSTableFixture.create(rows, 100), QUERIES);
    print("%d rows with values of 100 bytes, all in the cache", rows);
    print(
        "  %-38s %7.0f ns",
        "any row, the first time it is asked for", firstTime(SSTableFixture.create(rows, 100)));
    time("any row, from the block cache", reads::row, "target: at most 3000 ns");
    time("few rows, from the block cache", reads::hotRowOfBlock, "");
    time("few rows, from the scan cache", reads::hotRow, "");
    time("absent row", () -> reads.absentRow() ? 1L : 0L, "target: at most 1000 ns");
    time("absent column", () -> reads.absentColumn() ? 1L : 0L, "");
  }

  /** A row that is looked for in the scan cache, and found in the block cache. */
  private static double firstTime(SSTableFixture fixture) throws Exception {
    double least = Double.MAX_VALUE;
    for (int run = 0; run < 5; run++) {
      SSTableReads reads = new SSTableReads(fixture, QUERIES);
      least = Math.min(least, CpuTime.of(1, QUERIES, reads::rowOfScanCache));
    }
    return least;
  }

  private static void falsePositives() throws Exception {
    print("false positives of the Bloom filter (rows; columns), and expected");
    for (int bits : new int[] {6, 8, 10, 12, 16}) {
      SSTableOptions options =
          SSTableOptions.DEFAULT
              .withCodec(Codec.NONE)
              .withBloom(Bloom.ROW_COLUMN)
              .withBloomBitsPerKey(bits);
      SSTableReads reads = new SSTableReads(SSTableFixture.create(1_000_000, 1, options), 1 << 19);
      long wrongRows = 0;
      long wrongColumns = 0;
      for (int i = 0; i < 1 << 19; i++) {
        wrongRows += reads.absentRow() ? 1L : 0L;
        wrongColumns += reads.absentColumn() ? 1L : 0L;
      }
      long probes = Math.round(bits * Math.log(2));
      print(
          "  %2d bits a key: %.4f; %.4f   expected %.4f",
          bits,
          wrongRows / (double) (1 << 19),
          wrongColumns / (double) (1 << 19),
          Math.pow(1 - Math.exp(-probes / (double) bits), probes));
    }
  }

  private static void time(String what, Callable<Long> work, String target) throws Exception {
    CpuTime.warmUp(work);
    print("  %-38s %7.0f ns   %s", what, CpuTime.of(RUNS, QUERIES, work), target);
  }

  private static void print(String format, Object... arguments) {
    System.out.println(String.format(Locale.ROOT, format, arguments).stripTrailing());
  }
}
