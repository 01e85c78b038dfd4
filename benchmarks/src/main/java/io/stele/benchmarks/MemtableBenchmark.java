package io.stele.benchmarks;

import io.stele.format.CellCursor;
import io.stele.memtable.Memtable;
import java.io.IOException;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentSkipListMap;
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
 * A memtable beside a bare {@link ConcurrentSkipListMap} of the same keys and values: filling it,
 * going through it, looking up a key. A fill and a scan are of all {@code cells}: their time is
 * divided by that to compare.
 */
@State(Scope.Benchmark)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Fork(value = 1, jvmArgsAppend = "-Xmx3g")
public class MemtableBenchmark {
  @Param({"100000", "1000000"})
  int cells;

  @Param({"RANDOM", "RANDOM_AFTER_PREFIX", "SEQUENTIAL"})
  MemtableCells.Order order;

  private MemtableCells input;
  private Memtable memtable;
  private ConcurrentSkipListMap<byte[], byte[]> map;
  private final Random random = new Random(5);

  /** Makes the cells, and fills one of each. */
  @Setup
  public void fill() {
    input = new MemtableCells(cells, order);
    memtable = input.memtable();
    map = input.map();
  }

  /** All cells into a new memtable: key and value are copied. */
  @Benchmark
  @BenchmarkMode(Mode.SingleShotTime)
  @Warmup(iterations = 8)
  @Measurement(iterations = 12)
  public Memtable fillMemtable() {
    return input.memtable();
  }

  /** All cells into a new map, which holds the arrays as they are. */
  @Benchmark
  @BenchmarkMode(Mode.SingleShotTime)
  @Warmup(iterations = 8)
  @Measurement(iterations = 12)
  public Map<byte[], byte[]> fillMap() {
    return input.map();
  }

  /** Every cell of the memtable. */
  @Benchmark
  @BenchmarkMode(Mode.SingleShotTime)
  @Warmup(iterations = 8)
  @Measurement(iterations = 12)
  public long scanMemtable() throws IOException {
    long sum = 0;
    try (CellCursor cursor = memtable.cursor(Long.MAX_VALUE)) {
      while (cursor.next()) {
        sum += cursor.key()[cursor.keyLength() - 1] + cursor.valueArray()[cursor.valueOffset()];
      }
    }
    return sum;
  }

  /** Every entry of the map. */
  @Benchmark
  @BenchmarkMode(Mode.SingleShotTime)
  @Warmup(iterations = 8)
  @Measurement(iterations = 12)
  public long scanMap() {
    long sum = 0;
    for (Map.Entry<byte[], byte[]> entry : map.entrySet()) {
      sum += entry.getKey()[entry.getKey().length - 1] + entry.getValue()[0];
    }
    return sum;
  }

  /** One cell, by a cursor of its own. */
  @Benchmark
  @BenchmarkMode(Mode.AverageTime)
  @OutputTimeUnit(TimeUnit.NANOSECONDS)
  @Warmup(iterations = 3, time = 1)
  @Measurement(iterations = 5, time = 1)
  public byte seekMemtable() throws IOException {
    try (CellCursor cursor = memtable.cursor(Long.MAX_VALUE)) {
      cursor.seek(input.key(random.nextInt(cells)));
      return cursor.valueArray()[cursor.valueOffset()];
    }
  }

  /** One entry. */
  @Benchmark
  @BenchmarkMode(Mode.AverageTime)
  @OutputTimeUnit(TimeUnit.NANOSECONDS)
  @Warmup(iterations = 3, time = 1)
  @Measurement(iterations = 5, time = 1)
  public byte seekMap() {
    return map.ceilingEntry(input.key(random.nextInt(cells))).getValue()[0];
  }
}
