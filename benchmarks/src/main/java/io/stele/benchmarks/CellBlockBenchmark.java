package io.stele.benchmarks;

import io.stele.format.CellBlockCursor;
import io.stele.format.CellBlockWriter;
import io.stele.format.CellType;
import io.stele.format.ColumnKey;
import io.stele.format.Crc32c;
import io.stele.model.Bytes;
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
 * Going through one 64 KiB block of cells, beside what the machine needs at the least: a checksum
 * and a copy of the same bytes. One operation is one block: some 2,000 cells with a 20-byte value,
 * or 64 with a 1000-byte value.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class CellBlockBenchmark {
  private static final int BLOCK_BYTES = 64 << 10;
  private static final int RESTART_INTERVAL = 16;

  @Param({"20", "1000"})
  int valueBytes;

  private byte[] block;
  private int length;
  private byte[] copy;
  private byte[] middleKey;

  /** Fills the block. */
  @Setup
  public void fill() {
    CellBlockWriter writer = CellBlockWriter.searchable(RESTART_INTERVAL, BLOCK_BYTES * 2);
    byte[] value = new byte[valueBytes];
    int row = 0;
    while (writer.size() < BLOCK_BYTES) {
      byte[] key =
          ColumnKey.of(Bytes.of(String.format("row%012d", row++)), "family", Bytes.of("qualifier"));
      writer.add(key, 1_700_000_000_000_000L + row, row, 0, CellType.PUT, Bytes.wrap(value));
    }
    middleKey =
        ColumnKey.of(Bytes.of(String.format("row%012d", row / 2)), "family", Bytes.of("qualifier"));
    block = writer.finish().toByteArray();
    length = block.length;
    copy = new byte[length];
  }

  /** Every cell of the block. */
  @Benchmark
  public long scan() throws IOException {
    CellBlockCursor cursor = CellBlockCursor.searchable(block, 0, length);
    long sum = 0;
    while (cursor.next()) {
      sum += cursor.keyLength() + cursor.valueLength() + cursor.timestamp();
    }
    return sum;
  }

  /** One cell in the middle of the block. */
  @Benchmark
  public boolean seek() throws IOException {
    return CellBlockCursor.searchable(block, 0, length).seek(middleKey);
  }

  /** The least that reading the block can cost. */
  @Benchmark
  public int checksumAndCopy() {
    System.arraycopy(block, 0, copy, 0, length);
    return Crc32c.of(copy, 0, length);
  }
}
