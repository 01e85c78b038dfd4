package io.stele.benchmarks;

import com.sun.management.OperatingSystemMXBean;
import io.stele.client.Table;
import io.stele.model.Mutation;
import io.stele.model.TableSchema;
import io.stele.sim.MiniStele;
import io.stele.sim.Site;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import org.apache.hadoop.conf.Configuration;

/**
 * Single rows read over the data plane from a tablet server that has them in memory: client and
 * server in one process, over loopback. Prints rows a second, and the CPU time a row of both ends
 * together.
 *
 * <pre>
 * java -cp ... io.stele.benchmarks.ServedReads [threads] [rounds] [seconds a round]
 * </pre>
 */
public final class ServedReads {
  private static final int ROWS = 10_000;
  private static final int VALUE_BYTES = 1000;
  private static final OperatingSystemMXBean SYSTEM =
      (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

  private ServedReads() {}

  /** Runs it. */
  public static void main(String[] args) throws Exception {
    int threads = args.length > 0 ? Integer.parseInt(args[0]) : 16;
    int rounds = args.length > 1 ? Integer.parseInt(args[1]) : 5;
    int seconds = args.length > 2 ? Integer.parseInt(args[2]) : 10;
    Configuration conf = MiniStele.quick(new Configuration(false));
    conf.set("stele.tabletserver.cache.bytes", "128m");
    try (MiniStele cluster = MiniStele.start(conf, Site.inMemory(), 1, 1)) {
      cluster.client().admin().createTable(TableSchema.of("reads", "f"));
      Table table = cluster.client().table("reads");
      write(table);
      // From a file in the cache, as most rows are, not from the memtable.
      cluster.client().admin().compactTable("reads");
      round(table, threads, seconds);
      for (int i = 0; i < rounds; i++) {
        System.out.println(round(table, threads, seconds));
      }
    }
    System.exit(0);
  }

  private static void write(Table table) throws IOException {
    SplittableRandom random = new SplittableRandom(1);
    List<Mutation> batch = new ArrayList<>();
    for (int i = 0; i < ROWS; i++) {
      byte[] value = new byte[VALUE_BYTES];
      random.nextBytes(value);
      batch.add(Mutation.of(row(i)).put("f", "q", value));
      if (batch.size() == 500) {
        table.mutateAll(batch);
        batch.clear();
      }
    }
  }

  private static String row(int number) {
    return String.format(Locale.ROOT, "row%08d", number);
  }

  private static String round(Table table, int threads, int seconds) throws InterruptedException {
    AtomicBoolean over = new AtomicBoolean();
    LongAdder rows = new LongAdder();
    LongAdder failures = new LongAdder();
    List<Thread> readers = new ArrayList<>();
    for (int i = 0; i < threads; i++) {
      SplittableRandom random = new SplittableRandom(i);
      Thread reader =
          new Thread(
              () -> {
                while (!over.get()) {
                  try {
                    boolean found = table.readRow(row(random.nextInt(ROWS))).isPresent();
                    (found ? rows : failures).increment();
                  } catch (IOException | RuntimeException e) {
                    failures.increment();
                  }
                }
              });
      readers.add(reader);
    }
    long cpu = SYSTEM.getProcessCpuTime();
    long start = System.nanoTime();
    readers.forEach(Thread::start);
    Thread.sleep(seconds * 1000L);
    over.set(true);
    for (Thread reader : readers) {
      reader.join();
    }
    double passed = (System.nanoTime() - start) / 1e9;
    double cpuMicros = (SYSTEM.getProcessCpuTime() - cpu) / 1e3;
    return String.format(
        Locale.ROOT,
        "%d threads: %.0f rows/s, %.1f us of CPU a row, %d failures",
        threads,
        rows.sum() / passed,
        cpuMicros / rows.sum(),
        failures.sum());
  }
}
