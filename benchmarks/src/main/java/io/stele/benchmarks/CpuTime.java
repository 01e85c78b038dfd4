package io.stele.benchmarks;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.concurrent.Callable;

/**
 * Measures the calling thread's CPU time, which other processes disturb little. The least of many
 * runs is taken: what disturbs only adds.
 */
final class CpuTime {
  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
  private static final long WARM_UP_NANOS = 1_500_000_000L;

  /** Where results go, so that nothing is left out. */
  private static volatile long sink;

  private CpuTime() {}

  /** Runs work until it is compiled. */
  static void warmUp(Callable<Long> work) throws Exception {
    long end = THREADS.getCurrentThreadCpuTime() + WARM_UP_NANOS;
    while (THREADS.getCurrentThreadCpuTime() < end) {
      sink += work.call();
    }
  }

  /** The least time of one call in {@code runs} runs of so many calls, in nanoseconds. */
  static double of(int runs, int calls, Callable<Long> work) throws Exception {
    long least = Long.MAX_VALUE;
    for (int run = 0; run < runs; run++) {
      long start = THREADS.getCurrentThreadCpuTime();
      long sum = 0;
      for (int call = 0; call < calls; call++) {
        sum += work.call();
      }
      least = Math.min(least, THREADS.getCurrentThreadCpuTime() - start);
      sink += sum;
    }
    return least / (double) calls;
  }
}
