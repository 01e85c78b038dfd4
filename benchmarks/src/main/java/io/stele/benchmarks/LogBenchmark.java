package io.stele.benchmarks;

import io.stele.format.CellBlockWriter;
import io.stele.format.CellType;
import io.stele.format.ColumnKey;
import io.stele.log.CommitLog;
import io.stele.log.LogDirectory;
import io.stele.log.LogLocation;
import io.stele.log.LogOptions;
import io.stele.log.LogRecord;
import io.stele.log.LogStatistics;
import io.stele.log.LoggedOperation;
import io.stele.model.Bytes;
import io.stele.model.OperationId;
import io.stele.model.ServerId;
import io.stele.model.TableId;
import io.stele.model.TabletId;
import io.stele.model.TabletKind;
import io.stele.runtime.SystemRuntime;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * How fast the commit log is beside a plain sequential write of the same file system, with as many
 * bytes a flush as the log had: turn by turn in one run, so that the noise of a machine hits both.
 *
 * <pre>
 * java -cp 'benchmarks/target/*:benchmarks/target/lib/*' io.stele.benchmarks.LogBenchmark [seconds] [rounds] [hdfs|local]...
 * </pre>
 *
 * <p>Writers wait for each record before they append the next. The last line of each file system
 * has one writer that appends without waiting, up to a megabyte ahead, as a tablet server under
 * load does for its clients together.
 */
public final class LogBenchmark {
  private static final int RECORD_BYTES = 1000;
  private static final int[] WRITERS = {1, 4, 16, 64, 0};
  private static final int AHEAD = 1000;
  private static final TabletId TABLET = new TabletId(new TableId("t1"), "0000000000000001");
  private static final ServerId SERVER = new ServerId("host", 1, 1);

  private final FileSystem fs;
  private final Path root;
  private final Duration time;
  private int directories;

  private LogBenchmark(FileSystem fs, Path root, Duration time) {
    this.fs = fs;
    this.root = root;
    this.time = time;
  }

  /** Runs it. */
  public static void main(String[] args) throws Exception {
    Duration time =
        Duration.ofMillis((long) (1000 * (args.length > 0 ? Double.parseDouble(args[0]) : 2)));
    int rounds = args.length > 1 ? Integer.parseInt(args[1]) : 5;
    List<String> where =
        args.length > 2 ? List.of(args).subList(2, args.length) : List.of("hdfs", "local");
    for (String kind : where) {
      try (BenchmarkFiles files = BenchmarkFiles.open(kind)) {
        new LogBenchmark(files.fs(), files.root(), time).run(kind, rounds);
      }
    }
    System.exit(0); // Hadoop leaves threads behind.
  }

  private void run(String name, int rounds) throws Exception {
    System.out.printf("%n%s, records of %d bytes%n", name, RECORD_BYTES);
    System.out.printf(
        "%8s %12s %12s %8s %14s %12s %10s %10s %12s%n",
        "writers",
        "log MB/s",
        "plain MB/s",
        "ratio",
        "records/flush",
        "records/s",
        "median us",
        "99 % us",
        "log CPU us");
    for (int writers : WRITERS) {
      List<Outcome> logs = new ArrayList<>();
      List<Double> plains = new ArrayList<>();
      List<Double> ratios = new ArrayList<>();
      log(writers); // Warm.
      for (int round = 0; round < rounds; round++) {
        Outcome log = log(writers);
        double plain = plain((int) Math.max(1, log.statistics().bytesPerFlush()));
        logs.add(log);
        plains.add(plain);
        ratios.add(log.megabytesPerSecond() / plain);
      }
      Outcome middle = logs.get(logs.size() / 2);
      System.out.printf(
          Locale.ROOT,
          "%8s %12.1f %12.1f %8.2f %14.1f %12.0f %10d %10d %12.1f%n",
          writers == 0 ? "ahead" : Integer.toString(writers),
          median(logs.stream().map(Outcome::megabytesPerSecond).toList()),
          median(plains),
          median(ratios),
          median(logs.stream().map(one -> one.statistics().recordsPerFlush()).toList()),
          median(logs.stream().map(one -> one.statistics().records() / one.seconds()).toList()),
          middle.statistics().flushMedian().toNanos() / 1000,
          middle.statistics().flush99th().toNanos() / 1000,
          median(
              logs.stream()
                  .map(one -> one.cpuNanos() / 1000.0 / one.statistics().records())
                  .toList()));
    }
  }

  /** One run of the log; CPU is that of the log's own threads. */
  private record Outcome(LogStatistics statistics, double seconds, long cpuNanos) {
    double megabytesPerSecond() {
      return statistics.bytes() / 1e6 / seconds;
    }
  }

  private Outcome log(int writers) throws Exception {
    Path directory = new Path(root, "logs-" + ++directories);
    LogDirectory.create(fs, directory);
    CompletableFuture<IOException> failure = new CompletableFuture<>();
    Outcome outcome;
    try (CommitLog log =
        CommitLog.open(
            SystemRuntime.INSTANCE,
            new LogLocation(fs, directory, SERVER, TabletKind.USER),
            LogOptions.DEFAULT,
            failure::complete)) {
      long start = System.nanoTime();
      List<Thread> threads = new ArrayList<>();
      for (int i = 0; i < Math.max(1, writers); i++) {
        int tablet = i + 1;
        Thread thread =
            new Thread(
                () -> {
                  if (writers == 0) {
                    appendAhead(log, start);
                  } else {
                    appendOneByOne(log, tablet, start);
                  }
                });
        thread.start();
        threads.add(thread);
      }
      for (Thread thread : threads) {
        thread.join();
      }
      double seconds = (System.nanoTime() - start) / 1e9;
      outcome = new Outcome(log.statistics(), seconds, cpuOfLog());
    }
    if (failure.isDone()) {
      throw failure.join();
    }
    fs.delete(directory, true);
    return outcome;
  }

  private void appendOneByOne(CommitLog log, int tablet, long start) {
    TabletId id = new TabletId(TABLET.table(), String.format("%016x", tablet));
    for (long sequence = 1; System.nanoTime() - start < time.toNanos(); sequence++) {
      log.append(record(id, sequence)).join();
    }
  }

  private void appendAhead(CommitLog log, long start) {
    Semaphore ahead = new Semaphore(AHEAD);
    for (long sequence = 1; System.nanoTime() - start < time.toNanos(); sequence++) {
      ahead.acquireUninterruptibly();
      CompletableFuture<Void> done = log.append(record(TABLET, sequence));
      done.whenComplete((nothing, failure) -> ahead.release());
    }
    ahead.acquireUninterruptibly(AHEAD);
  }

  private static final Bytes CELLS = cells();

  private static Bytes cells() {
    byte[] value = new byte[RECORD_BYTES - 150];
    new Random(1).nextBytes(value);
    byte[] key = ColumnKey.of(Bytes.of("com.example/some/page.html"), "contents", Bytes.EMPTY);
    CellBlockWriter block = CellBlockWriter.sequential(RECORD_BYTES);
    block.add(key, 1_700_000_000_000_000L, 1, 0, CellType.PUT, Bytes.wrap(value));
    return Bytes.wrap(block.finish().toByteArray());
  }

  private static LogRecord record(TabletId tablet, long sequence) {
    return new LogRecord(
        tablet,
        sequence,
        1_700_000_000_000_000L,
        Optional.of(
            new LoggedOperation(
                new OperationId(1, tablet.hashCode(), sequence),
                sequence,
                Bytes.ofLong(sequence),
                Bytes.EMPTY)),
        CELLS);
  }

  /** Megabytes a second of one thread that writes and flushes so many bytes at a time. */
  private double plain(int flushBytes) throws IOException {
    byte[] chunk = new byte[flushBytes];
    new Random(2).nextBytes(chunk);
    Path file = new Path(root, "plain");
    long bytes = 0;
    double seconds;
    try (FSDataOutputStream out = fs.create(file, true)) {
      out.hflush();
      long start = System.nanoTime();
      while (System.nanoTime() - start < time.toNanos()) {
        out.write(chunk);
        out.hflush();
        bytes += chunk.length;
      }
      seconds = (System.nanoTime() - start) / 1e9;
    }
    fs.delete(file, false);
    return bytes / 1e6 / seconds;
  }

  private static long cpuOfLog() {
    var threads = ManagementFactory.getThreadMXBean();
    long nanos = 0;
    for (var info : threads.getThreadInfo(threads.getAllThreadIds())) {
      if (info != null && info.getThreadName().startsWith("commit-log-")) {
        nanos += threads.getThreadCpuTime(info.getThreadId());
      }
    }
    return nanos;
  }

  private static double median(List<Double> values) {
    return values.stream().sorted().skip(values.size() / 2).findFirst().orElse(0.0);
  }
}
