package io.stele.bulk;

import io.stele.client.Jobs;
import io.stele.client.Stele;
import io.stele.model.Bytes;
import io.stele.model.Mutation;
import io.stele.model.Row;
import io.stele.model.RowQuery;
import io.stele.model.TableId;
import io.stele.model.TableSchema;
import io.stele.record.JobChange;
import io.stele.sim.MiniStele;
import io.stele.sim.Site;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** A cluster with a table of two tablets, and a job that writes files for it. */
abstract class JobOutputTestCase {
  static final TableSchema SCHEMA = TableSchema.of("web", "f");
  static final JobOutput.Terms TERMS = new JobOutput.Terms(1000, 1 << 20);

  MiniStele cluster;
  Stele stele;
  Jobs jobs;
  TableId table;
  String job;
  JobOutput output;

  @BeforeEach
  final void start() throws IOException {
    start(new Configuration(false), Site.inMemory());
  }

  final void start(Configuration conf, Site site) throws IOException {
    cluster = MiniStele.start(MiniStele.quick(conf), site, 1, 1);
    stele = cluster.client();
    stele.admin().beginCreateTable(SCHEMA, List.of(Bytes.of("m"))).await(Duration.ofMinutes(1));
    jobs = stele.jobs();
    table = jobs.environment().tableId("web");
    begin();
  }

  /** The next job begins. */
  final void begin() throws IOException {
    job = jobs.begin(Duration.ofMinutes(10));
    output = new JobOutput(jobs, job);
  }

  @AfterEach
  final void stop() {
    cluster.close();
  }

  final FileSystem files() throws IOException {
    return jobs.environment().files();
  }

  /** The job's directory. */
  final Path directory() throws IOException {
    return new Path(jobs.environment().root(), "bulk/" + job);
  }

  /** An attempt has written {@code text} to each of the rows, and finished. */
  final void finish(String attempt, String text, String... rows) throws IOException {
    try (AttemptOutput one = output.attempt(attempt, TERMS)) {
      one.addTable("web", table, SCHEMA);
      for (String row : rows) {
        one.add("web", Mutation.of(row).put("f", text, text));
      }
      one.finish();
    }
  }

  /** The task's first attempt has written {@code text} to each of the rows, and is published. */
  final void taskWrites(String task, String text, String... rows) throws IOException {
    finish(task + "-a", text, rows);
    output.publish(task + "-a", task);
  }

  /** What the job commits. */
  final Map<TableId, JobChange> changes() throws IOException {
    return output.changes(Map.of());
  }

  final void commit() throws IOException {
    output.commit(List.of(), Map.of());
  }

  /** An ApplicationMaster of its own commits the job, once {@code start} lets it. */
  final CompletableFuture<Void> beginToCommit(CyclicBarrier start) {
    return CompletableFuture.runAsync(
        () -> {
          try {
            JobOutput own = new JobOutput(jobs, job);
            start.await();
            own.commit(List.of(), Map.of());
          } catch (Exception e) {
            throw new AssertionError(e);
          }
        });
  }

  /** All rows, each with its columns: {@code "a 1 2"}. */
  final List<String> visible() throws IOException {
    List<String> visible = new ArrayList<>();
    try (var rows = stele.table("web").readRows(RowQuery.ALL)) {
      for (Row row : rows) {
        StringBuilder text = new StringBuilder(row.key().toUtf8());
        row.cells().forEach(cell -> text.append(' ').append(cell.qualifier().toUtf8()));
        visible.add(text.toString());
      }
    }
    return visible;
  }

  /** How many SSTables the job has. */
  final int sstables() throws IOException {
    int count = 0;
    for (FileStatus file : files().listStatus(directory())) {
      count += file.getPath().getName().endsWith(".sst") ? 1 : 0;
    }
    return count;
  }
}
