package io.stele.benchmarks;

import java.lang.ref.Reference;
import java.util.function.Function;

/**
 * Prints what a memtable and a bare ConcurrentSkipListMap of the same cells take of the heap: used
 * memory after a collection with it, less that without it. Arguments: numbers of cells; none:
 * 100000 and 1000000.
 */
public final class MemtableFootprint {
  private MemtableFootprint() {}

  /** Measures and prints. */
  public static void main(String[] args) {
    String[] counts = args.length > 0 ? args : new String[] {"100000", "1000000"};
    for (String count : counts) {
      int cells = Integer.parseInt(count);
      long memtable = measure(cells, MemtableCells::memtable);
      long map = measure(cells, MemtableCells::map);
      System.out.printf(
          "%,d cells of %d + %d bytes: memtable %.1f bytes a cell, map %.1f, ratio %.2f%n",
          cells,
          MemtableCells.KEY_BYTES,
          MemtableCells.VALUE_BYTES,
          (double) memtable / cells,
          (double) map / cells,
          (double) memtable / map);
    }
  }

  private static long measure(int cells, Function<MemtableCells, Object> fill) {
    long before = used();
    Object filled = fill.apply(new MemtableCells(cells, MemtableCells.Order.RANDOM));
    long after = used();
    Reference.reachabilityFence(filled);
    return after - before;
  }

  private static long used() {
    long used = Long.MAX_VALUE;
    for (int i = 0; i < 4; i++) {
      System.gc();
      Runtime runtime = Runtime.getRuntime();
      used = Math.min(used, runtime.totalMemory() - runtime.freeMemory());
    }
    return used;
  }
}
