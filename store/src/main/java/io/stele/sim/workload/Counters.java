package io.stele.sim.workload;

import io.stele.client.Stele;
import io.stele.model.Bytes;
import io.stele.model.Column;
import io.stele.model.ReadModifyWrite;
import io.stele.model.Row;
import io.stele.model.RowQuery;
import io.stele.model.TableSchema;
import io.stele.sim.check.Action;
import io.stele.sim.check.Call;
import io.stele.sim.check.CallChecker;
import io.stele.sim.check.CallOutcome;
import io.stele.sim.check.CounterChecker;
import io.stele.sim.check.Result;
import io.stele.sim.check.Violation;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.random.RandomGenerator;

/** A few counters that all clients increment and read: each increment counts once. */
public final class Counters extends TableWorkload {
  private static final Column COUNT = Column.of("f", "count");
  private static final int AMOUNT_MAX = 9;

  private final int rows;

  /** With so many counters in a table of that name. */
  public Counters(String table, int rows, Pace pace) {
    super("counters", "each increment counts once, and no counter goes back", table, pace);
    this.rows = rows;
  }

  @Override
  public void setUp(Stele client) throws IOException {
    RecordedTable.create(client, TableSchema.of(table, COUNT.family()), List.of(row(rows / 2)));
  }

  @Override
  public void run(WorkloadContext context, int client) throws InterruptedException {
    Optional<RecordedTable> opened = RecordedTable.open(context, client, table);
    RandomGenerator random = context.random();
    while (opened.isPresent() && !context.isOver()) {
      Bytes row = row(random.nextInt(rows));
      if (random.nextInt(4) == 0) {
        read(opened.get(), row);
      } else {
        increment(opened.get(), row, 1 + random.nextInt(AMOUNT_MAX));
      }
      pace.pause(context);
    }
  }

  private static void increment(RecordedTable table, Bytes row, long amount)
      throws InterruptedException {
    ReadModifyWrite increment =
        ReadModifyWrite.increment(row, COUNT.family(), COUNT.qualifier(), amount);
    table.call(
        new Action.Increment(row, amount),
        () -> count(Optional.of(table.table().readModifyWrite(increment))));
  }

  private static CallOutcome read(RecordedTable table, Bytes row) throws InterruptedException {
    return table.call(
        new Action.ReadCounter(row), () -> count(table.table().readRow(row, RowQuery.ALL)));
  }

  private static Result count(Optional<Row> row) {
    return new Result.Number(
        row.flatMap(found -> found.cell(COUNT.family(), COUNT.qualifier()))
            .map(cell -> cell.value().toLong())
            .orElse(0L));
  }

  @Override
  public void readBack(WorkloadContext context) throws InterruptedException {
    List<RecordedTable.ReadBack> reads = new ArrayList<>();
    for (int i = 0; i < rows; i++) {
      Bytes row = row(i);
      reads.add(table -> read(table, row));
    }
    RecordedTable.readBack(context, table, reads);
  }

  @Override
  public List<Violation> check(List<Call> calls) {
    List<Violation> violations = new ArrayList<>(CounterChecker.check(calls));
    violations.addAll(CallChecker.checkReadBack(calls));
    return violations;
  }

  private static Bytes row(int number) {
    return Bytes.of("counter" + (char) ('a' + number));
  }
}
