package io.stele.benchmarks;

import io.stele.client.BatchWriter;
import io.stele.client.JobRenewal;
import io.stele.client.Jobs;
import io.stele.client.Rows;
import io.stele.client.Stele;
import io.stele.client.Table;
import io.stele.config.Keys;
import io.stele.model.Bytes;
import io.stele.model.ColumnFamily;
import io.stele.model.GcPolicy;
import io.stele.model.Mutation;
import io.stele.model.OperationId;
import io.stele.model.Row;
import io.stele.model.RowQuery;
import io.stele.model.TableSchema;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.conf.Configuration;

/**
 * What a tablet server remembers of the records that the tasks of one job write live, as their
 * number grows. The tablet server is a process with the memory of a container of 1 GiB. ZooKeeper
 * and a master are processes, too; HDFS and the tasks are in this one. Each task writes small
 * records to a hundred rows of its own, by turns, with operation ids that are kept until the job
 * ends. Prints from time to time how many records were written, how many bytes the remembered
 * operations take, and what is alive in the server's heap after a full collection.
 *
 * <p>In the end one task in twenty is attempted again, and writes all its records again. That must
 * change nothing: every row must still have the last value that was written to it.
 *
 * <pre>
 * java -cp ... io.stele.benchmarks.LiveRecords [millions] [tasks] [tasks at a time]
 * </pre>
 */
public final class LiveRecords {
  private static final int ROWS_OF_TASK = 100;
  private static final long BUFFER_BYTES = 4 << 20;
  private static final long OPERATIONS_OF = 7; // All tasks' ids begin with this.
  private static final int REPORTS = 20;
  private static final int AGAIN = 20; // One task in so many is attempted again.
  private static final Pattern LIVE = Pattern.compile("(?m)^Total\\s+\\d+\\s+(\\d+)");
  private static final Pattern OPERATIONS =
      Pattern.compile("stele_tabletserver_operation_memory_bytes (\\d+)");

  /** Options of a tablet server in a container of 1 GiB, as the ApplicationMaster sets them. */
  private static final List<String> GIBIBYTE =
      List.of(
          "-Xmx704m",
          "-XX:MaxDirectMemorySize=192m",
          "-XX:CompressedClassSpaceSize=32m",
          "-XX:MaxMetaspaceSize=128m",
          "-XX:ReservedCodeCacheSize=48m",
          "-XX:+UseSerialGC",
          "-XX:+ExitOnOutOfMemoryError");

  private final long recordsOfTask;
  private final int tasks;
  private final int atOnce;

  private LiveRecords(long records, int tasks, int atOnce) {
    this.recordsOfTask = records / tasks;
    this.tasks = tasks;
    this.atOnce = atOnce;
  }

  /** Runs it. */
  public static void main(String[] args) throws Exception {
    Arguments given = new Arguments(args);
    long millions = given.number(0, 100);
    Configuration settings = new Configuration();
    settings.setInt(Keys.LOG_REPLICAS_MIN.name(), 1);
    settings.set(Keys.CLIENT_TIMEOUT.name(), "300s"); // As of jobs.
    try (ProcessCluster cluster = new ProcessCluster("live-records", 1, settings)) {
      cluster.startMaster();
      long server = cluster.startServer(GIBIBYTE);
      try (Stele client = Stele.connect(cluster.conf())) {
        new LiveRecords(millions * 1_000_000, given.number(1, 100), given.number(2, 4))
            .measure(client, server);
      }
    }
    System.exit(0);
  }

  private void measure(Stele client, long server) throws Exception {
    ColumnFamily family = new ColumnFamily("f", GcPolicy.maxVersions(1));
    client.admin().createTable(TableSchema.of("t", List.of(family)));
    Table table = client.table("t");
    Jobs jobs = client.jobs();
    String job = jobs.begin(Duration.ofHours(1));
    JobRenewal renewal = jobs.keep(job);
    report(client, server, 0, System.nanoTime());
    long start = System.nanoTime();
    attempts(
        tasks,
        task -> write(table, job, task),
        done -> {
          if (done % Math.max(1, tasks / REPORTS) == 0) {
            report(client, server, done * recordsOfTask, start);
          }
        });
    System.out.printf(Locale.ROOT, "%d rows are as written%n", check(table));
    int again = Math.max(1, tasks / AGAIN);
    attempts(again, task -> write(table, job, task), done -> {});
    System.out.printf(
        Locale.ROOT, "%d rows are so after second attempts of %d tasks%n", check(table), again);
    report(client, server, recordsOfTask * tasks, start);
    renewal.close();
    jobs.end(job);
  }

  /** What an attempt of a task does. */
  private interface Attempt {
    void run(int task) throws IOException;
  }

  /** Called when so many tasks are done. */
  private interface Progress {
    void done(int tasks) throws Exception;
  }

  private void attempts(int count, Attempt attempt, Progress progress) throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(atOnce);
    try {
      List<Future<?>> running = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        int task = i;
        running.add(
            threads.submit(
                () -> {
                  attempt.run(task);
                  return task;
                }));
      }
      for (int done = 1; done <= count; done++) {
        running.get(done - 1).get();
        progress.done(done);
      }
    } finally {
      threads.shutdownNow();
    }
  }

  private static Bytes row(int task, long record) {
    return Bytes.of(String.format(Locale.ROOT, "%04d-%02d", task, record % ROWS_OF_TASK));
  }

  private void write(Table table, String job, int task) throws IOException {
    Bytes[] rows = new Bytes[ROWS_OF_TASK];
    for (int i = 0; i < ROWS_OF_TASK; i++) {
      rows[i] = row(task, i);
    }
    Bytes qualifier = Bytes.of("q");
    BatchWriter.Options options =
        BatchWriter.Options.ofBufferBytes(BUFFER_BYTES)
            .withFirstOperation(new OperationId(OPERATIONS_OF, task, 1))
            .forJob(job);
    try (BatchWriter writer = table.batchWriter(options)) {
      for (long record = 0; record < recordsOfTask; record++) {
        writer.add(
            Mutation.of(rows[(int) (record % ROWS_OF_TASK)])
                .put("f", qualifier, Bytes.ofLong(record)));
      }
    }
  }

  /**
   * Checks that every row has the last value that was written to it; returns how many there are.
   */
  private int check(Table table) throws IOException {
    int count = 0;
    try (Rows found = table.readRows(RowQuery.ALL)) {
      for (Row row : found) {
        int task = count / ROWS_OF_TASK;
        int place = count % ROWS_OF_TASK;
        long last = (recordsOfTask - 1 - place) / ROWS_OF_TASK * ROWS_OF_TASK + place;
        if (!row.key().equals(row(task, place))
            || !row.value("f", "q").equals(Optional.of(Bytes.ofLong(last)))) {
          throw new IllegalStateException(row + " should be row " + row(task, place) + ": " + last);
        }
        count++;
      }
    }
    if (count != tasks * ROWS_OF_TASK) {
      throw new IllegalStateException("there are " + count + " rows");
    }
    return count;
  }

  private static void report(Stele client, long server, long records, long startNanos)
      throws Exception {
    String page =
        client.admin().clusterStatus().servers().stream()
            .flatMap(one -> one.webAddress().stream())
            .findFirst()
            .orElseThrow();
    String metrics;
    try (InputStream in = new URI("http://" + page + "/metrics").toURL().openStream()) {
      metrics = new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
    System.out.printf(
        Locale.ROOT,
        "%,13d records, %5d s: %,9d bytes of operations, %,13d bytes alive in the heap%n",
        records,
        TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - startNanos),
        number(OPERATIONS, metrics),
        number(LIVE, histogram(server)));
  }

  private static long number(Pattern pattern, String text) {
    Matcher found = pattern.matcher(text);
    if (!found.find()) {
      throw new IllegalStateException("no " + pattern + " in " + text);
    }
    return Long.parseLong(found.group(1));
  }

  /** The objects that are alive in a process, after a full collection. */
  private static String histogram(long process) throws IOException {
    Process jcmd =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "jcmd").toString(),
                Long.toString(process),
                "GC.class_histogram")
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    try (InputStream in = jcmd.getInputStream()) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }
}
