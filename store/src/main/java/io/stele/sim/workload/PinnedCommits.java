package io.stele.sim.workload;

import io.stele.client.Jobs;
import io.stele.client.Rows;
import io.stele.client.Stele;
import io.stele.client.Table;
import io.stele.direct.DirectRows;
import io.stele.model.Bytes;
import io.stele.model.Cell;
import io.stele.model.Row;
import io.stele.model.RowQuery;
import io.stele.model.RowRange;
import io.stele.model.SteleException.Code;
import io.stele.model.TableSchema;
import io.stele.sim.check.Action;
import io.stele.sim.check.Call;
import io.stele.sim.check.CallChecker;
import io.stele.sim.check.CallOutcome;
import io.stele.sim.check.Result;
import io.stele.sim.check.Violation;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.random.RandomGenerator;

/**
 * A table of several tablets in which jobs commit files of all rows while others pin it and read it
 * at the pin: who has pinned it sees all of a job, in every row, or nothing.
 */
public final class PinnedCommits extends TableWorkload {
  private static final String PINS = "pins ";

  private final int rows;
  private final TableSchema schema;

  /**
   * The workload.
   *
   * @param table the name of its table
   * @param rows how many rows each job writes
   */
  public PinnedCommits(String table, int rows, Pace pace) {
    super("pinned-commits", "who has pinned a table sees all of a job or nothing", table, pace);
    this.rows = rows;
    this.schema = TableSchema.of(table, WholeTableJobs.FAMILY);
  }

  @Override
  public void setUp(Stele client) throws IOException {
    List<Bytes> splits = new ArrayList<>();
    for (int i = 1; i < 6; i++) {
      splits.add(numberedRow(rows * i / 6));
    }
    RecordedTable.create(client, schema, splits);
  }

  @Override
  public void run(WorkloadContext context, int client) throws InterruptedException {
    Optional<RecordedTable> opened = RecordedTable.open(context, client, table);
    for (int i = 0; opened.isPresent() && !context.isOver(); i++) {
      if (client % 2 == 0) {
        new WholeTableJobs(context, client, schema, rows).commit("job-" + client + "-" + i);
      } else {
        new Reader(context, client).read(opened.get().table());
      }
      pace.pause(context);
    }
  }

  /** What one client does for one job that reads. */
  private static final class Reader {
    private final WorkloadContext context;
    private final int client;
    private final Jobs jobs;

    Reader(WorkloadContext context, int client) {
      this.context = context;
      this.client = client;
      this.jobs = context.client().jobs();
    }

    void read(Table read) throws InterruptedException {
      Optional<String> job = RecordedTable.ofCall(() -> jobs.begin(WholeTableJobs.LEASE));
      if (job.isEmpty()) {
        return;
      }
      int call =
          context.history().begin(client, new Action.Other(PINS + job.get()), context.nanoTime());
      CallOutcome outcome = new CallOutcome.Rejected(Code.RETRY_LATER, "not pinned, or not read");
      try {
        Optional<String> pinned =
            RecordedTable.ofCall(
                () -> WholeTableJobs.done(() -> jobs.pin(job.get(), read.name(), RowRange.ALL)));
        if (pinned.isPresent()) {
          Optional<List<Row>> found = RecordedTable.ofCall(() -> rows(read.atPin(job.get())));
          if (found.isPresent()) {
            outcome = new CallOutcome.Answered(Result.Rows.all(found.get()));
          }
        }
      } finally {
        context.history().end(call, outcome, context.nanoTime(), 0);
      }
      RecordedTable.ofCall(() -> WholeTableJobs.done(() -> jobs.end(job.get())));
    }

    private List<Row> rows(Table pinned) throws IOException {
      RandomGenerator random = context.random();
      List<Row> read = new ArrayList<>();
      if (random.nextBoolean()) {
        try (DirectRows found = DirectRows.of(pinned, RowQuery.ALL, 1 << random.nextInt(20))) {
          for (Optional<Row> row = found.read(); row.isPresent(); row = found.read()) {
            read.add(row.get());
          }
        }
      } else {
        try (Rows found = pinned.readRows(RowQuery.ALL)) {
          found.forEach(read::add);
        }
      }
      return read;
    }
  }

  @Override
  public List<Violation> check(List<Call> calls) {
    List<Violation> violations = new ArrayList<>(CallChecker.checkReadBack(calls));
    for (Call call : calls) {
      if (call.action() instanceof Action.Other other
          && other.text().startsWith(PINS)
          && call.outcome() instanceof CallOutcome.Answered answer
          && answer.result() instanceof Result.Rows seen) {
        violations.addAll(check(calls, call, seen.rows()));
      }
    }
    return violations;
  }

  private List<Violation> check(List<Call> calls, Call read, List<Row> seen) {
    Map<String, Integer> counts = new HashMap<>(); // Rows with each job's column.
    for (Row row : seen) {
      for (Cell cell : row.cells()) {
        counts.merge(cell.qualifier().toUtf8(), 1, Integer::sum);
      }
    }
    List<Violation> violations = new ArrayList<>();
    counts.forEach(
        (job, count) -> {
          if (count != rows) {
            violations.add(
                violation(read + " saw " + job + " in " + count + " of " + rows + " rows"));
          }
        });
    Set<String> before = new TreeSet<>();
    for (Call call : calls) {
      if (call.isAnswered() && call.isBefore(read)) {
        WholeTableJobs.columnOf(call).ifPresent(before::add);
      }
    }
    before.removeAll(counts.keySet());
    if (!before.isEmpty()) {
      violations.add(violation(read + " did not see " + before + ", committed before"));
    }
    return violations;
  }

  private static Violation violation(String text) {
    return new Violation("pinned commits", text);
  }
}
