package io.stele.benchmarks;

import com.sun.management.OperatingSystemMXBean;
import io.stele.client.BatchWriter;
import io.stele.client.Rows;
import io.stele.client.Stele;
import io.stele.client.Table;
import io.stele.direct.DirectRows;
import io.stele.model.Bytes;
import io.stele.model.ColumnFamily;
import io.stele.model.Mutation;
import io.stele.model.Row;
import io.stele.model.RowQuery;
import io.stele.model.RowRange;
import io.stele.model.TableSchema;
import io.stele.record.FileRef;
import io.stele.record.PinnedTablet;
import io.stele.runtime.IoCallable;
import io.stele.sim.MiniStele;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.SplittableRandom;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * A table of 1000-byte values read at a pin by one thread: through its tablet server, directly from
 * its files, and the bytes of the files alone. HDFS, server and reader are one process. Prints MB
 * of values a second, and CPU time of all of them for a MB.
 *
 * <pre>
 * java -cp ... io.stele.benchmarks.DirectReads [MB] [rounds]
 * </pre>
 */
public final class DirectReads {
  static final String TABLE = "reads";
  private static final int VALUE_BYTES = 1000;
  private static final OperatingSystemMXBean SYSTEM =
      (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

  private DirectReads() {}

  /** Runs it. */
  public static void main(String[] args) throws Exception {
    int megabytes = args.length > 0 ? Integer.parseInt(args[0]) : 200;
    int rounds = args.length > 1 ? Integer.parseInt(args[1]) : 3;
    try (MiniStele cluster = HdfsCluster.start("direct-reads", 1)) {
      run(cluster.client(), megabytes, rounds);
    }
    System.exit(0);
  }

  /** Makes the table, of so many tablets with as many rows each, with its cells in files. */
  static void fill(Stele stele, int megabytes, int tablets) throws IOException {
    int rows = megabytes * 1000;
    List<Bytes> starts = new ArrayList<>();
    for (int i = 1; i < tablets; i++) {
      starts.add(row((int) ((long) rows * i / tablets)));
    }
    stele.admin().createTable(TableSchema.of(TABLE, List.of(ColumnFamily.of("f"))), starts);
    SplittableRandom random = new SplittableRandom(1);
    try (BatchWriter writer = stele.table(TABLE).batchWriter()) {
      for (int i = 0; i < rows; i++) {
        byte[] value = new byte[VALUE_BYTES];
        random.nextBytes(value);
        writer.add(Mutation.of(row(i)).put("f", "q", value));
      }
    }
    stele.admin().compactTable(TABLE);
  }

  private static Bytes row(int number) {
    return Bytes.of(String.format(Locale.ROOT, "row%09d", number));
  }

  private static void run(Stele stele, int megabytes, int rounds) throws IOException {
    fill(stele, megabytes, 1);
    String job = stele.jobs().begin(Duration.ofHours(1));
    stele.jobs().pin(job, TABLE, RowRange.ALL);
    Table pinned = stele.table(TABLE).atPin(job);
    for (int i = 0; i <= rounds; i++) {
      measure("served", () -> served(pinned));
      measure("direct", () -> direct(pinned));
      measure("bytes of files", () -> files(pinned));
    }
  }

  private static void measure(String what, IoCallable<Long> reading) throws IOException {
    long cpu = SYSTEM.getProcessCpuTime();
    long start = System.nanoTime();
    long bytes = reading.call();
    double seconds = (System.nanoTime() - start) / 1e9;
    double cpuMillis = (SYSTEM.getProcessCpuTime() - cpu) / 1e6;
    System.out.printf(
        Locale.ROOT,
        "%-15s %6.0f MB/s %6.2f ms CPU a MB%n",
        what,
        bytes / 1e6 / seconds,
        cpuMillis / (bytes / 1e6));
  }

  /** Reads all values through the servers; how many bytes they have. */
  static long served(Table pinned) throws IOException {
    long bytes = 0;
    try (Rows rows = pinned.readRows(RowQuery.ALL)) {
      for (Optional<Row> row = rows.read(); row.isPresent(); row = rows.read()) {
        bytes += row.get().cells().get(0).value().length();
      }
    }
    return bytes;
  }

  /** Reads all values from the files; how many bytes they have. */
  static long direct(Table pinned) throws IOException {
    long bytes = 0;
    try (DirectRows rows = DirectRows.of(pinned, RowQuery.ALL)) {
      for (Optional<Row> row = rows.read(); row.isPresent(); row = rows.read()) {
        bytes += row.get().cells().get(0).value().length();
      }
    }
    return bytes;
  }

  private static long files(Table pinned) throws IOException {
    FileSystem fs = pinned.pinnedTablets().files();
    byte[] buffer = new byte[1 << 20];
    long bytes = 0;
    for (PinnedTablet tablet : pinned.pinnedTablets().all()) {
      for (FileRef file : tablet.files()) {
        try (FSDataInputStream in = fs.open(new Path(pinned.pinnedTablets().root(), file.path()))) {
          for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
            bytes += read;
          }
        }
      }
    }
    return bytes;
  }
}
