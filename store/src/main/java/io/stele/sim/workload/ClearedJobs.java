package io.stele.sim.workload;

import io.stele.client.Stele;
import io.stele.model.Bytes;
import io.stele.model.Cell;
import io.stele.model.Row;
import io.stele.model.RowRange;
import io.stele.model.TableSchema;
import io.stele.sim.check.Action;
import io.stele.sim.check.Call;
import io.stele.sim.check.CallOutcome;
import io.stele.sim.check.Result;
import io.stele.sim.check.Violation;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A table of several tablets in which jobs commit files of all rows while all rows are deleted
 * again and again: what a job wrote is there in all rows or gone from all.
 */
public final class ClearedJobs extends TableWorkload {
  private final int rows;
  private final TableSchema schema;

  /**
   * The workload.
   *
   * @param table the name of its table
   * @param rows how many rows each job writes
   */
  public ClearedJobs(String table, int rows, Pace pace) {
    super("cleared-jobs", "rows are deleted of all of a job or of nothing", table, pace);
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
    WholeTableJobs jobs = new WholeTableJobs(context, client, schema, rows);
    for (int i = 0; opened.isPresent() && !context.isOver(); i++) {
      int choice = context.random().nextInt(10);
      if (choice < 4) {
        jobs.commit("job-" + client + "-" + i);
      } else if (choice < 7) {
        opened.get().scan(RowRange.ALL, Long.MAX_VALUE);
      } else {
        opened
            .get()
            .call(
                new Action.Clear(RowRange.ALL),
                () -> {
                  context.client().admin().truncateTable(table);
                  return new Result.Done();
                });
      }
      pace.pause(context);
    }
  }

  @Override
  public List<Violation> check(List<Call> calls) {
    List<Call> clears = calls.stream().filter(one -> one.action() instanceof Action.Clear).toList();
    List<Violation> violations = new ArrayList<>();
    for (Call call : calls) {
      if (call.action() instanceof Action.Scan
          && call.outcome() instanceof CallOutcome.Answered answer
          && answer.result() instanceof Result.Rows seen
          && seen.cutShort().isEmpty()
          && clears.stream().allMatch(clear -> isDecided(clear, call, clears))) {
        violations.addAll(check(calls, clears, call, seen.rows()));
      }
    }
    return violations;
  }

  /**
   * Whether a scan sees all that a clearing does, or nothing of it. One whose outcome is unknown
   * may have cleared some tablets only, and may go on until the next begins.
   */
  private static boolean isDecided(Call clear, Call scan, List<Call> clears) {
    return clear.isRejected()
        || scan.isBefore(clear)
        || (clear.isAnswered() && clear.isBefore(scan))
        || clears.stream()
            .anyMatch(later -> later.isAnswered() && clear.isBefore(later) && later.isBefore(scan));
  }

  private List<Violation> check(List<Call> calls, List<Call> clears, Call scan, List<Row> seen) {
    Map<String, Integer> counts = new HashMap<>(); // Rows with each job's column.
    for (Row row : seen) {
      for (Cell cell : row.cells()) {
        counts.merge(cell.qualifier().toUtf8(), 1, Integer::sum);
      }
    }
    List<Violation> violations = new ArrayList<>();
    for (Call call : calls) {
      Optional<String> job = WholeTableJobs.columnOf(call);
      if (job.isEmpty() || !call.isAnswered() || !call.isBefore(scan)) {
        continue; // The scan may see some of it.
      }
      int count = counts.getOrDefault(job.get(), 0);
      boolean wasCleared =
          clears.stream()
              .anyMatch(one -> one.isAnswered() && call.isBefore(one) && one.isBefore(scan));
      boolean mayBeCleared = // One whose outcome is unknown may begin later.
          clears.stream()
              .anyMatch(one -> !one.isRejected() && (!one.isAnswered() || !one.isBefore(call)));
      if ((count != 0 || !mayBeCleared) && (count != rows || wasCleared)) {
        violations.add(
            new Violation(
                "cleared jobs",
                scan + " saw " + job.get() + " in " + count + " of " + rows + " rows"));
      }
    }
    return violations;
  }
}
