package io.stele.sim.workload;

import io.stele.bulk.AttemptOutput;
import io.stele.bulk.InputPins;
import io.stele.bulk.JobOutput;
import io.stele.client.JobEnvironment;
import io.stele.client.Jobs;
import io.stele.client.Rows;
import io.stele.client.Stele;
import io.stele.client.Table;
import io.stele.model.Bytes;
import io.stele.model.Column;
import io.stele.model.ColumnFamily;
import io.stele.model.GcPolicy;
import io.stele.model.Mutation;
import io.stele.model.Row;
import io.stele.model.RowQuery;
import io.stele.model.RowRange;
import io.stele.model.TableId;
import io.stele.model.TableSchema;
import io.stele.runtime.IoRunnable;
import io.stele.sim.check.Action;
import io.stele.sim.check.Call;
import io.stele.sim.check.CallChecker;
import io.stele.sim.check.CallOutcome;
import io.stele.sim.check.Result;
import io.stele.sim.check.RewriteChecker;
import io.stele.sim.check.Violation;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * A table of which jobs pin all rows, read their values, and write new ones, while others put
 * values too: what a job has read does not hide what the job made of it, and the job hides no value
 * that a client has put since its pin.
 */
public final class RewritingJobs extends TableWorkload {
  private static final Column VALUE = Column.of("f", "value");
  private static final Duration LEASE = Duration.ofSeconds(20);
  private static final Duration BETWEEN_JOBS = Duration.ofSeconds(1);

  private final int rows;

  /**
   * The workload.
   *
   * @param table the name of its table
   * @param rows how many rows it has
   */
  public RewritingJobs(String table, int rows, Pace pace) {
    super("rewriting", "a job's output replaces what the job has read, no more", table, pace);
    this.rows = rows;
  }

  private TableSchema schema() {
    return TableSchema.of(
        table, List.of(new ColumnFamily(VALUE.family(), GcPolicy.maxVersions(1))));
  }

  @Override
  public void setUp(Stele client) throws IOException {
    RecordedTable.create(client, schema(), List.of(numberedRow(rows / 3), numberedRow(rows / 2)));
  }

  @Override
  public void run(WorkloadContext context, int client) throws InterruptedException {
    Optional<RecordedTable> opened = RecordedTable.open(context, client, table);
    for (int i = 0; opened.isPresent() && !context.isOver(); i++) {
      RecordedTable table = opened.get();
      if (client % 4 == 0) {
        new OneJob(context, client, table.table(), "job-" + client + "-" + i).run();
        context.pause(BETWEEN_JOBS);
      } else if (context.random().nextBoolean()) {
        Bytes row = numberedRow(context.random().nextInt(rows));
        Bytes value = Bytes.of("client-" + client + "-" + i);
        table.mutate(
            new Action.Write(row, value),
            Mutation.of(row).put(VALUE.family(), VALUE.qualifier(), value));
      } else {
        table.scan(RowRange.ALL, Long.MAX_VALUE);
      }
      pace.pause(context);
    }
  }

  /** What one client does for one job. */
  private final class OneJob {
    private final WorkloadContext context;
    private final int client;
    private final Table opened;
    private final String name;
    private final Jobs jobs;

    OneJob(WorkloadContext context, int client, Table opened, String name) {
      this.context = context;
      this.client = client;
      this.opened = opened;
      this.name = name;
      this.jobs = context.client().jobs();
    }

    void run() throws InterruptedException {
      Optional<JobEnvironment.Submission> terms =
          RecordedTable.ofCall(() -> jobs.environment().submission());
      Optional<String> output = RecordedTable.ofCall(() -> jobs.begin(LEASE));
      Optional<String> input = RecordedTable.ofCall(() -> jobs.begin(LEASE));
      if (terms.isPresent() && output.isPresent() && input.isPresent()) {
        rewrite(output.get(), input.get(), terms.get());
      }
      for (Optional<String> job : List.of(input, output)) {
        if (job.isPresent()) {
          RecordedTable.ofCall(
              () -> {
                jobs.end(job.get());
                return job;
              });
        }
      }
    }

    private void rewrite(String output, String input, JobEnvironment.Submission terms)
        throws InterruptedException {
      boolean pinned = call(RewriteChecker.PINS + name, () -> jobs.pin(input, table, RowRange.ALL));
      if (!pinned) {
        return;
      }
      Table atPin = opened.atPin(input);
      Optional<Map<Bytes, Bytes>> read = RecordedTable.ofCall(() -> values(atPin));
      Optional<JobOutput> written =
          read.isEmpty() || read.get().isEmpty()
              ? Optional.empty()
              : RecordedTable.ofCall(() -> write(output, atPin, read.get().keySet(), terms));
      if (written.isPresent()) {
        String commits = RewriteChecker.commits(name, read.get());
        call(commits, () -> written.get().commit(List.of(), Map.of()));
      }
    }

    /** Makes a call that may take longer than others; whether it was answered. */
    private boolean call(String text, IoRunnable step) throws InterruptedException {
      int number = context.history().begin(client, new Action.Other(text), context.nanoTime());
      CallOutcome outcome = new CallOutcome.Unknown("it failed");
      try {
        Optional<CallOutcome> done =
            RecordedTable.ofCall(
                () -> {
                  step.run();
                  return new CallOutcome.Answered(new Result.Done());
                });
        outcome = done.orElse(outcome);
      } finally {
        context.history().end(number, outcome, context.nanoTime(), 0);
      }
      return outcome instanceof CallOutcome.Answered;
    }

    private Map<Bytes, Bytes> values(Table pinned) throws IOException {
      Map<Bytes, Bytes> values = new TreeMap<>();
      try (Rows found = pinned.readRows(RowQuery.ALL)) {
        for (Row row : found) {
          row.cell(VALUE.family(), VALUE.qualifier())
              .ifPresent(cell -> values.put(row.key(), cell.value()));
        }
      }
      return values;
    }

    /** Writes as a task does, of a job that noted its pins when it was submitted. */
    private JobOutput write(
        String job, Table pinned, Set<Bytes> rows, JobEnvironment.Submission terms)
        throws IOException {
      TableId id = pinned.id();
      JobOutput output = new JobOutput(jobs, job);
      output.notePins(Map.of(id, InputPins.of(pinned)));
      try (AttemptOutput attempt =
          output.attempt("task-0-0", output.terms(terms.timeMicros(), terms.valueBytesMax()))) {
        attempt.addTable(table, id, schema());
        for (Bytes row : rows) {
          attempt.add(
              table, Mutation.of(row).put(VALUE.family(), VALUE.qualifier(), Bytes.of(name)));
        }
        attempt.finish();
      }
      output.publish("task-0-0", "task-0");
      return output;
    }
  }

  @Override
  public List<Violation> check(List<Call> calls) {
    List<Violation> violations = new ArrayList<>(CallChecker.checkReadBack(calls));
    violations.addAll(RewriteChecker.check(calls, VALUE));
    return violations;
  }
}
