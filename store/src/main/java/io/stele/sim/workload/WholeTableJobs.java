package io.stele.sim.workload;

import io.stele.client.Jobs;
import io.stele.model.Mutation;
import io.stele.model.TableId;
import io.stele.model.TableSchema;
import io.stele.record.FileRef;
import io.stele.record.JobChange;
import io.stele.runtime.IoRunnable;
import io.stele.sim.check.Action;
import io.stele.sim.check.Call;
import io.stele.sim.check.CallOutcome;
import io.stele.sim.check.Result;
import io.stele.tablet.JobFileWriter;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Jobs of one client, each of which writes a column of its own to all rows of a table. */
final class WholeTableJobs {
  static final String FAMILY = "f";
  static final Duration LEASE = Duration.ofSeconds(20);
  private static final String COMMITS = "commits ";
  private static final long TIMESTAMP = 1_000;

  private final WorkloadContext context;
  private final int client;
  private final Jobs jobs;
  private final TableSchema schema;
  private final int rows;

  /**
   * Jobs that write rows 0 to {@code rows}, exclusive.
   *
   * @param schema of the table
   */
  WholeTableJobs(WorkloadContext context, int client, TableSchema schema, int rows) {
    this.context = context;
    this.client = client;
    this.jobs = context.client().jobs();
    this.schema = schema;
    this.rows = rows;
  }

  /** The column of the job that a call commits; empty if it does something else. */
  static Optional<String> columnOf(Call call) {
    return call.action() instanceof Action.Other other && other.text().startsWith(COMMITS)
        ? Optional.of(other.text().substring(COMMITS.length()))
        : Optional.empty();
  }

  /** Runs a job and records its commit as a call, whose outcome may be unknown. */
  void commit(String column) throws InterruptedException {
    Optional<String> job = RecordedTable.ofCall(() -> jobs.begin(LEASE));
    Optional<Map<TableId, JobChange>> files =
        job.isEmpty()
            ? Optional.empty()
            : RecordedTable.ofCall(
                () ->
                    Map.of(
                        jobs.environment().tableId(schema.name()),
                        JobChange.of(write(job.get(), column))));
    if (files.isPresent()) {
      int call =
          context.history().begin(client, new Action.Other(COMMITS + column), context.nanoTime());
      CallOutcome outcome = new CallOutcome.Unknown("not known to have committed");
      try {
        if (RecordedTable.ofCall(() -> done(() -> jobs.commit(job.get(), files.get())))
            .isPresent()) {
          outcome = new CallOutcome.Answered(new Result.Done());
        }
      } finally {
        context.history().end(call, outcome, context.nanoTime(), 0);
      }
    }
    if (job.isPresent()) {
      RecordedTable.ofCall(() -> done(() -> jobs.end(job.get())));
    }
  }

  private List<FileRef> write(String job, String column) throws IOException {
    RootFiles files = context.files();
    JobFileWriter.Target target =
        new JobFileWriter.Target(files.fs(), files.root(), job, "task", schema, TIMESTAMP);
    try (JobFileWriter writer = new JobFileWriter(target, context.random(), Integer.MAX_VALUE)) {
      for (int i = 0; i < rows; i++) {
        writer.add(Mutation.of(TableWorkload.numberedRow(i)).put(FAMILY, column, column));
      }
      return writer.finish();
    }
  }

  static String done(IoRunnable step) throws IOException {
    step.run();
    return "done";
  }
}
