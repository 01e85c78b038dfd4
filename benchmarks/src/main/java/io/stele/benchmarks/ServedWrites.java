package io.stele.benchmarks;

import io.stele.client.BatchWriter;
import io.stele.client.Rows;
import io.stele.client.Table;
import io.stele.model.Bytes;
import io.stele.model.ColumnFamily;
import io.stele.model.Mutation;
import io.stele.model.RowQuery;
import io.stele.model.TableSchema;
import io.stele.sim.MiniStele;
import io.stele.sim.Site;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import org.apache.hadoop.conf.Configuration;

/**
 * How long {@code Table.mutate} takes, with one tablet server in this process and its log in
 * memory: alone; beside scans for a column that hardly any of 100,000 rows has; beside a {@code
 * BatchWriter} that writes to the very row as fast as it can. By turns, in one run.
 *
 * <pre>
 * java -cp ... io.stele.benchmarks.ServedWrites [rounds] [seconds a round] [scans at a time]
 * </pre>
 */
public final class ServedWrites {
  private static final int ROWS = 100_000;
  private static final int RARE = 20_000; // One row in so many has the column that is scanned for.
  private static final String HOT_ROW = "hot";

  /** What goes on beside the writes. */
  private enum Beside {
    NOTHING,
    SCANS,
    HOT_ROW_WRITER
  }

  private final Table table;
  private final int seconds;
  private final int scans;

  private ServedWrites(Table table, int seconds, int scans) {
    this.table = table;
    this.seconds = seconds;
    this.scans = scans;
  }

  /** Runs it. */
  public static void main(String[] args) throws Exception {
    int rounds = args.length > 0 ? Integer.parseInt(args[0]) : 5;
    int seconds = args.length > 1 ? Integer.parseInt(args[1]) : 5;
    int scans = args.length > 2 ? Integer.parseInt(args[2]) : 8;
    Configuration conf = MiniStele.quick(new Configuration(false));
    conf.set("stele.tabletserver.cache.bytes", "256m");
    try (MiniStele cluster = MiniStele.start(conf, Site.inMemory(), 1, 1)) {
      cluster
          .client()
          .admin()
          .createTable(TableSchema.of("t", List.of(ColumnFamily.of("f"), ColumnFamily.of("rare"))));
      Table table = cluster.client().table("t");
      fill(table);
      cluster.client().admin().compactTable("t");
      ServedWrites writes = new ServedWrites(table, seconds, scans);
      for (int i = 0; i <= rounds; i++) {
        for (Beside beside : Beside.values()) {
          String line = writes.round(beside);
          if (i > 0) { // The first is to warm up.
            System.out.println(line);
          }
        }
      }
    }
    System.exit(0);
  }

  private static void fill(Table table) throws IOException {
    SplittableRandom random = new SplittableRandom(1);
    try (BatchWriter writer = table.batchWriter()) {
      for (int i = 0; i < ROWS; i++) {
        byte[] value = new byte[100];
        random.nextBytes(value);
        Mutation row = Mutation.of(String.format(Locale.ROOT, "row%08d", i)).put("f", "q", value);
        writer.add(i % RARE == 0 ? row.put("rare", "q", "1") : row);
      }
    }
  }

  private String round(Beside beside) throws Exception {
    AtomicBoolean over = new AtomicBoolean();
    LongAdder others = new LongAdder();
    List<Thread> threads = new ArrayList<>();
    switch (beside) {
      case NOTHING -> {}
      case SCANS -> {
        for (int i = 0; i < scans; i++) {
          threads.add(new Thread(() -> scan(over, others)));
        }
      }
      case HOT_ROW_WRITER -> threads.add(new Thread(() -> hammer(over, others)));
    }
    threads.forEach(Thread::start);
    long[] nanos = mutate();
    over.set(true);
    for (Thread thread : threads) {
      thread.join();
    }
    Arrays.sort(nanos);
    return String.format(
        Locale.ROOT,
        "beside %-14s %6d writes, median %.2f ms, 99 %% %.2f ms, longest %.1f ms; %d others",
        beside,
        nanos.length,
        nanos[nanos.length / 2] / 1e6,
        nanos[(int) (nanos.length * 0.99)] / 1e6,
        nanos[nanos.length - 1] / 1e6,
        others.sum());
  }

  private long[] mutate() throws IOException {
    List<Long> times = new ArrayList<>();
    long end = System.nanoTime() + seconds * 1_000_000_000L;
    for (long now = System.nanoTime(); now - end < 0; now = System.nanoTime()) {
      table.mutate(Mutation.of(HOT_ROW).put("f", Bytes.of("mine"), Bytes.ofLong(now)));
      times.add(System.nanoTime() - now);
    }
    return times.stream().mapToLong(Long::longValue).toArray();
  }

  private void scan(AtomicBoolean over, LongAdder scanned) {
    while (!over.get()) {
      try (Rows rows = table.readRows(RowQuery.ALL.family("rare"))) {
        rows.forEach(row -> {});
        scanned.increment();
      } catch (IOException | RuntimeException e) {
        throw new IllegalStateException("a scan failed", e);
      }
    }
  }

  private void hammer(AtomicBoolean over, LongAdder written) {
    try (BatchWriter writer = table.batchWriter()) {
      for (long i = 0; !over.get(); i++) {
        writer.add(Mutation.of(HOT_ROW).put("f", Bytes.of("theirs"), Bytes.ofLong(i)));
        written.increment();
      }
    } catch (IOException e) {
      throw new IllegalStateException("the writer failed", e);
    }
  }
}
