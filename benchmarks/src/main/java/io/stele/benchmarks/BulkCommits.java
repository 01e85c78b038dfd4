package io.stele.benchmarks;

import io.stele.client.Jobs;
import io.stele.client.Stele;
import io.stele.model.Bytes;
import io.stele.model.Mutation;
import io.stele.model.RowRange;
import io.stele.model.TableId;
import io.stele.model.TableSchema;
import io.stele.record.FileRef;
import io.stele.record.JobChange;
import io.stele.sim.MiniStele;
import io.stele.tablet.JobFileWriter;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Commits of a bulk job's files into a table: how long from the request until all tablets have
 * taken them. HDFS, two tablet servers and the client are one process. Every second commit replaces
 * all rows.
 *
 * <pre>
 * java -cp ... io.stele.benchmarks.BulkCommits [files] [tablets] [rounds]
 * </pre>
 */
public final class BulkCommits {
  private static final int ROWS_OF_FILE = 100;
  private static final int TASKS = 16;

  private BulkCommits() {}

  /** Runs it. */
  public static void main(String[] args) throws Exception {
    int files = args.length > 0 ? Integer.parseInt(args[0]) : 1000;
    int tablets = args.length > 1 ? Integer.parseInt(args[1]) : 100;
    int rounds = args.length > 2 ? Integer.parseInt(args[2]) : 6;
    try (MiniStele cluster = HdfsCluster.start("bulk-commits", 2)) {
      run(cluster.client(), files, tablets, rounds);
    }
    System.exit(0);
  }

  private static Bytes row(int tablet, int number) {
    return Bytes.of(String.format(Locale.ROOT, "%04d-%05d", tablet, number));
  }

  private static void run(Stele stele, int files, int tablets, int rounds) throws Exception {
    TableSchema schema = TableSchema.of("commits", "f");
    List<Bytes> splits = new ArrayList<>();
    for (int i = 1; i < tablets; i++) {
      splits.add(row(i, 0));
    }
    stele.admin().createTable(schema, splits);
    Jobs jobs = stele.jobs();
    for (int round = 0; round < rounds; round++) {
      String job = jobs.begin(Duration.ofHours(1));
      List<FileRef> written = write(jobs, job, schema, files, tablets);
      boolean replaces = round % 2 == 1;
      JobChange change = new JobChange(written, replaces ? List.of(RowRange.ALL) : List.of());
      TableId table = jobs.environment().tableId("commits");
      long start = System.nanoTime();
      jobs.register(job, Map.of(table, change));
      long registered = System.nanoTime();
      jobs.commit(job, Map.of(table, change));
      long end = System.nanoTime();
      System.out.printf(
          Locale.ROOT,
          "%d files, %d tablets%s: %.2f s, of which %.2f s until all files wait%n",
          written.size(),
          tablets,
          replaces ? ", replacing" : "",
          (end - start) / 1e9,
          (registered - start) / 1e9);
    }
  }

  /** Writes files by as many threads as a job might have tasks: each waits for its syncs. */
  private static List<FileRef> write(
      Jobs jobs, String job, TableSchema schema, int files, int tablets) throws Exception {
    ExecutorService tasks = Executors.newFixedThreadPool(TASKS);
    try {
      List<Future<List<FileRef>>> writing = new ArrayList<>();
      for (int i = 0; i < files; i++) {
        int number = i;
        writing.add(tasks.submit(() -> writeOne(jobs, job, schema, number % tablets, number)));
      }
      List<FileRef> written = new ArrayList<>();
      for (Future<List<FileRef>> one : writing) {
        written.addAll(one.get());
      }
      return written;
    } finally {
      tasks.shutdownNow();
    }
  }

  private static List<FileRef> writeOne(
      Jobs jobs, String job, TableSchema schema, int tablet, int number) throws IOException {
    JobFileWriter.Target target =
        new JobFileWriter.Target(
            jobs.environment().files(),
            jobs.environment().root(),
            job,
            "task-" + number,
            schema,
            1_000_000);
    try (JobFileWriter writer = new JobFileWriter(target, new SplittableRandom(1), 1 << 20)) {
      for (int i = 0; i < ROWS_OF_FILE; i++) {
        writer.add(Mutation.of(row(tablet, number * ROWS_OF_FILE + i)).put("f", "q", "value"));
      }
      return writer.finish();
    }
  }
}
