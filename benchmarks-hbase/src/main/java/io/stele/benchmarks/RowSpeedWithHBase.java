package io.stele.benchmarks;

import com.sun.management.OperatingSystemMXBean;
import io.stele.client.Stele;
import io.stele.model.Codec;
import io.stele.model.ColumnFamily;
import io.stele.model.Mutation;
import io.stele.model.Row;
import io.stele.model.RowQuery;
import io.stele.model.TableSchema;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.util.Bytes;

/**
 * Rows of 1000 bytes written, read and scanned by several threads at once through the clients of
 * Stele and of HBase, in turn: one process, the same HDFS, tables small enough to be in the caches.
 *
 * <pre>
 * java -cp ... io.stele.benchmarks.RowSpeedWithHBase [threads] [rounds] [seconds]
 * </pre>
 */
public final class RowSpeedWithHBase {
  private static final int ROWS = 10_000;
  private static final int VALUE_BYTES = 1000;
  private static final String TABLE = "rows";
  private static final OperatingSystemMXBean SYSTEM =
      (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

  private final int threads;
  private final int seconds;

  private RowSpeedWithHBase(int threads, int seconds) {
    this.threads = threads;
    this.seconds = seconds;
  }

  /** One call of one thread. */
  private interface Call {
    /** Says how many rows it has written or read. */
    int make(SplittableRandom random) throws IOException;
  }

  /** Runs it. */
  public static void main(String[] args) throws Exception {
    int threads = args.length > 0 ? Integer.parseInt(args[0]) : 16;
    int rounds = args.length > 1 ? Integer.parseInt(args[1]) : 5;
    int seconds = args.length > 2 ? Integer.parseInt(args[2]) : 5;
    JobCluster cluster = new JobCluster();
    Map<String, Call> calls = new LinkedHashMap<>();
    stele(calls, cluster.stele().client());
    hbase(calls, HBaseServer.start(cluster.conf(), cluster.zookeeper()));
    RowSpeedWithHBase speed = new RowSpeedWithHBase(threads, seconds);
    for (int round = 0; round <= rounds; round++) {
      for (Map.Entry<String, Call> one : calls.entrySet()) {
        System.out.printf(
            Locale.ROOT,
            "round %d  %-12s %s%n",
            round,
            one.getKey(),
            speed.measure(one.getValue()));
      }
    }
    System.exit(0);
  }

  private static String row(int number) {
    return String.format(Locale.ROOT, "row%08d", number);
  }

  private static byte[] value(SplittableRandom random) {
    byte[] value = new byte[VALUE_BYTES];
    random.nextBytes(value);
    return value;
  }

  /** From files in the cache, as most rows are, not from the memtable. */
  private static void stele(Map<String, Call> calls, Stele stele) throws IOException {
    stele.admin().createTable(schema(TABLE));
    stele.admin().createTable(schema("written"));
    io.stele.client.Table table = stele.table(TABLE);
    io.stele.client.Table written = stele.table("written");
    SplittableRandom random = new SplittableRandom(1);
    List<Mutation> batch = new ArrayList<>();
    for (int i = 0; i < ROWS; i++) {
      batch.add(Mutation.of(row(i)).put("f", "q", value(random)));
    }
    table.mutateAll(batch);
    stele.admin().compactTable(TABLE);
    calls.put("write", at -> write(written, at));
    calls.put("read", at -> table.readRow(row(at.nextInt(ROWS))).isPresent() ? 1 : 0);
    calls.put("scan", at -> scan(table));
  }

  private static TableSchema schema(String name) {
    return TableSchema.of(name, List.of(ColumnFamily.of("f"))).withCodec(Codec.NONE);
  }

  private static int write(io.stele.client.Table table, SplittableRandom random)
      throws IOException {
    table.mutate(Mutation.of(row(random.nextInt(ROWS))).put("f", "q", value(random)));
    return 1;
  }

  private static int scan(io.stele.client.Table table) throws IOException {
    int count = 0;
    try (io.stele.client.Rows rows = table.readRows(RowQuery.ALL)) {
      for (Row row : rows) {
        count += row.cells().size();
      }
    }
    return count;
  }

  private static void hbase(Map<String, Call> calls, HBaseServer server) throws IOException {
    TableName name = TableName.valueOf(TABLE);
    TableName other = TableName.valueOf("written");
    Table table = server.connection().getTable(name); // Its calls may come from all threads.
    Table written = server.connection().getTable(other);
    try (Admin admin = server.connection().getAdmin()) {
      admin.createTable(HBaseServer.table(name));
      admin.createTable(HBaseServer.table(other));
      SplittableRandom random = new SplittableRandom(1);
      List<Put> batch = new ArrayList<>();
      for (int i = 0; i < ROWS; i++) {
        batch.add(put(row(i), value(random)));
      }
      table.put(batch);
      admin.flush(name);
    }
    calls.put("hbase-write", at -> write(written, at));
    calls.put(
        "hbase-read",
        at -> table.get(new Get(Bytes.toBytes(row(at.nextInt(ROWS))))).isEmpty() ? 0 : 1);
    calls.put("hbase-scan", at -> scan(table));
  }

  private static Put put(String row, byte[] value) {
    return new Put(Bytes.toBytes(row)).addColumn(HBaseServer.FAMILY, HBaseServer.QUALIFIER, value);
  }

  private static int write(Table table, SplittableRandom random) throws IOException {
    table.put(put(row(random.nextInt(ROWS)), value(random)));
    return 1;
  }

  private static int scan(Table table) throws IOException {
    int count = 0;
    try (ResultScanner rows = table.getScanner(new Scan())) {
      for (Result row : rows) {
        count += row.size();
      }
    }
    return count;
  }

  /** Has all threads make the call again and again. */
  private String measure(Call call) throws Exception {
    System.gc();
    long cpu = SYSTEM.getProcessCpuTime();
    long start = System.nanoTime();
    long end = start + seconds * 1_000_000_000L;
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    try {
      List<Future<Long>> counts = new ArrayList<>();
      for (int i = 0; i < threads; i++) {
        SplittableRandom random = new SplittableRandom(i);
        counts.add(pool.submit(() -> repeat(call, random, end)));
      }
      long rows = 0;
      for (Future<Long> count : counts) {
        rows += count.get();
      }
      double passed = (System.nanoTime() - start) / 1e9;
      double cpuMicros = (SYSTEM.getProcessCpuTime() - cpu) / 1e3;
      return String.format(
          Locale.ROOT, "%8.0f rows/s %7.1f us CPU a row", rows / passed, cpuMicros / rows);
    } finally {
      pool.shutdownNow();
    }
  }

  private static long repeat(Call call, SplittableRandom random, long end) throws IOException {
    long rows = 0;
    while (System.nanoTime() < end) {
      int count = call.make(random);
      if (count == 0) {
        throw new IllegalStateException("a row that was written is not there");
      }
      rows += count;
    }
    return rows;
  }
}
