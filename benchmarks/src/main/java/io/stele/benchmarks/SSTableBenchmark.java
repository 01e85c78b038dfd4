package io.stele.benchmarks;

import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Scans of a whole SSTable, and reads of single rows of one. {@link SSTableSpeed} measures the same
 * by CPU time.
 */
@BenchmarkMode(Mode.AverageTime)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class SSTableBenchmark {
  /** A file of some 32 MB. */
  @State(Scope.Thread)
  public static class Scanned {
    @Param({"20", "1000"})
    int valueBytes;

    private SSTableReads reads;

    /** Writes the file. */
    @Setup
    public void write() throws IOException {
      reads = new SSTableReads(SSTableFixture.ofBytes(32 << 20, valueBytes), 1024);
    }
  }

  /** A file of rows with 100-byte values, all in the cache. */
  @State(Scope.Thread)
  public static class Asked {
    @Param({"100000", "1000000"})
    int rows;

    private SSTableReads reads;

    /** Writes the file. */
    @Setup
    public void write() throws IOException {
      reads = new SSTableReads(SSTableFixture.create(rows, 100), 1 << 16);
    }
  }

  /** The least that a scan can cost. */
  @Benchmark
  @OutputTimeUnit(TimeUnit.MILLISECONDS)
  public long copyAndChecksum(Scanned state) {
    return state.reads.copyAndChecksum();
  }

  /** Every cell, every block read and decoded. */
  @Benchmark
  @OutputTimeUnit(TimeUnit.MILLISECONDS)
  public long scan(Scanned state) throws IOException {
    return state.reads.scan();
  }

  /** Every cell, from blocks in the cache. */
  @Benchmark
  @OutputTimeUnit(TimeUnit.MILLISECONDS)
  public long scanCached(Scanned state) throws IOException {
    return state.reads.scanCached();
  }

  /** Any row, from the block cache. */
  @Benchmark
  @OutputTimeUnit(TimeUnit.NANOSECONDS)
  public long row(Asked state) throws IOException {
    return state.reads.row();
  }

  /** One of few rows, from the scan cache. */
  @Benchmark
  @OutputTimeUnit(TimeUnit.NANOSECONDS)
  public long hotRow(Asked state) throws IOException {
    return state.reads.hotRow();
  }

  /** One of the same few rows, from the block cache. */
  @Benchmark
  @OutputTimeUnit(TimeUnit.NANOSECONDS)
  public long hotRowOfBlock(Asked state) throws IOException {
    return state.reads.hotRowOfBlock();
  }

  /** A row that is not there. */
  @Benchmark
  @OutputTimeUnit(TimeUnit.NANOSECONDS)
  public boolean absentRow(Asked state) throws IOException {
    return state.reads.absentRow();
  }

  /** A column that the row does not have. */
  @Benchmark
  @OutputTimeUnit(TimeUnit.NANOSECONDS)
  public boolean absentColumn(Asked state) throws IOException {
    return state.reads.absentColumn();
  }
}
