package io.stele.benchmarks;

import io.stele.format.CellCursor;
import io.stele.memtable.Memtable;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Arrays;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.ToDoubleFunction;

/**
 * Prints what {@link MemtableBenchmark} measures as ratios, for a busy machine: the thread's own
 * CPU time, memtable and map alternating in one run, the median of the rounds. Arguments: numbers
 * of cells; none: 100000 and 1000000.
 */
public final class MemtableRatio {
  private static final int WARMUP = 4;
  private static final int ROUNDS = 9;
  private static final int SEEKS = 200_000;
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

  private MemtableRatio() {}

  /** What one round took, in nanoseconds a cell: insertion, scan, seek. */
  private record Round(double[] memtable, double[] map) {}

  /** Measures and prints. */
  public static void main(String[] args) throws IOException {
    String[] counts = args.length > 0 ? args : new String[] {"100000", "1000000"};
    for (String count : counts) {
      for (MemtableCells.Order order : MemtableCells.Order.values()) {
        print(new MemtableCells(Integer.parseInt(count), order), order);
      }
    }
  }

  private static void print(MemtableCells cells, MemtableCells.Order order) throws IOException {
    Round[] rounds = new Round[ROUNDS];
    for (int i = -WARMUP; i < ROUNDS; i++) {
      Round round = new Round(memtable(cells), map(cells));
      if (i >= 0) {
        rounds[i] = round;
      }
    }
    String[] names = {"insertion", "scan", "seek"};
    for (int what = 0; what < names.length; what++) {
      int which = what;
      double[] ratios = sorted(rounds, round -> round.memtable[which] / round.map[which]);
      System.out.printf(
          "%,9d %-19s %-9s memtable %,5.0f ns, map %,5.0f ns, ratio %.2f (%.2f to %.2f)%n",
          cells.count(),
          order,
          names[what],
          sorted(rounds, round -> round.memtable[which])[ROUNDS / 2],
          sorted(rounds, round -> round.map[which])[ROUNDS / 2],
          ratios[ROUNDS / 2],
          ratios[0],
          ratios[ROUNDS - 1]);
    }
  }

  private static double[] sorted(Round[] rounds, ToDoubleFunction<Round> value) {
    return Arrays.stream(rounds).mapToDouble(value).sorted().toArray();
  }

  private static double[] memtable(MemtableCells cells) throws IOException {
    System.gc();
    long start = THREADS.getCurrentThreadCpuTime();
    Memtable memtable = cells.memtable();
    long filled = THREADS.getCurrentThreadCpuTime();
    long sum = 0;
    CellCursor cursor = memtable.cursor(Long.MAX_VALUE);
    while (cursor.next()) {
      sum += cursor.key()[cursor.keyLength() - 1] + cursor.valueArray()[cursor.valueOffset()];
    }
    long scanned = THREADS.getCurrentThreadCpuTime();
    Random random = new Random(5);
    for (int i = 0; i < SEEKS; i++) {
      cursor.seek(cells.key(random.nextInt(cells.count())));
      sum += cursor.valueArray()[cursor.valueOffset()];
    }
    long sought = THREADS.getCurrentThreadCpuTime();
    return perCell(cells, start, filled, scanned, sought, sum);
  }

  private static double[] map(MemtableCells cells) {
    System.gc();
    long start = THREADS.getCurrentThreadCpuTime();
    ConcurrentSkipListMap<byte[], byte[]> map = cells.map();
    long filled = THREADS.getCurrentThreadCpuTime();
    long sum = 0;
    for (Map.Entry<byte[], byte[]> entry : map.entrySet()) {
      sum += entry.getKey()[entry.getKey().length - 1] + entry.getValue()[0];
    }
    long scanned = THREADS.getCurrentThreadCpuTime();
    Random random = new Random(5);
    for (int i = 0; i < SEEKS; i++) {
      sum += map.ceilingEntry(cells.key(random.nextInt(cells.count()))).getValue()[0];
    }
    long sought = THREADS.getCurrentThreadCpuTime();
    return perCell(cells, start, filled, scanned, sought, sum);
  }

  private static double[] perCell(
      MemtableCells cells, long start, long filled, long scanned, long sought, long sum) {
    if (sum == Long.MIN_VALUE) {
      throw new AssertionError("never: it only keeps the sum from being left out");
    }
    return new double[] {
      (double) (filled - start) / cells.count(),
      (double) (scanned - filled) / cells.count(),
      (double) (sought - scanned) / SEEKS
    };
  }
}
