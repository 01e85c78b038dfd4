package io.stele.sim.workload;

import io.stele.client.Stele;
import io.stele.model.Bytes;
import io.stele.model.Column;
import io.stele.model.ColumnFamily;
import io.stele.model.Mutation;
import io.stele.model.RowRange;
import io.stele.model.SteleException;
import io.stele.model.SteleException.Code;
import io.stele.model.TableSchema;
import io.stele.runtime.IoRunnable;
import io.stele.sim.check.Action;
import io.stele.sim.check.Call;
import io.stele.sim.check.Result;
import io.stele.sim.check.Violation;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.random.RandomGenerator;

/**
 * A few rows with one value each, in a family that clients drop, and add again under the same name.
 * Each row is a register that a drop clears: what was written before a drop must not be seen after
 * it, whatever family has the name then.
 */
public final class FamiliesComeAndGo extends TableWorkload {
  private static final Column VALUE = Column.of("f", "value");
  private static final String OTHER = "g"; // A table has one family at least.

  private final int rows;
  private final int alteredOfHundred;

  /** With so many rows in a table of that name, of whose calls so many alter it. */
  public FamiliesComeAndGo(String table, int rows, int alteredOfHundred, Pace pace) {
    super(
        "families",
        "what was written to a family is not seen after it was dropped, in whatever family has"
            + " its name",
        table,
        pace);
    this.rows = rows;
    this.alteredOfHundred = alteredOfHundred;
  }

  @Override
  public void setUp(Stele client) throws IOException {
    RecordedTable.create(
        client,
        TableSchema.of(table, VALUE.family(), OTHER),
        List.of(RegisterRows.row(rows / 3), RegisterRows.row(rows / 2)));
  }

  @Override
  public void run(WorkloadContext context, int client) throws InterruptedException {
    Optional<RecordedTable> opened = RecordedTable.open(context, client, table);
    RandomGenerator random = context.random();
    for (int i = 0; opened.isPresent() && !context.isOver(); i++) {
      RecordedTable table = opened.get();
      Bytes row = RegisterRows.row(random.nextInt(rows));
      if (random.nextInt(100) < alteredOfHundred) {
        alter(context, table);
      } else if (random.nextInt(100) < 60) {
        table.read(row);
      } else {
        write(table, row, Bytes.of(client + "-" + i));
      }
      pace.pause(context);
    }
  }

  private static void write(RecordedTable table, Bytes row, Bytes value)
      throws InterruptedException {
    Mutation put = Mutation.of(row).put(VALUE.family(), VALUE.qualifier(), value);
    table.call(
        new Action.Write(row, value),
        () -> matched(() -> table.table().mutate(put), Code.NOT_FOUND));
  }

  /** Drops the family where it is there, and adds it where it is not. */
  private void alter(WorkloadContext context, RecordedTable recorded) throws InterruptedException {
    List<TableSchema> seen = new ArrayList<>(1);
    recorded.call(
        new Action.Other("describe " + table),
        () -> {
          seen.add(context.client().admin().describeTable(table));
          return new Result.Done();
        });
    if (seen.isEmpty()) {
      return;
    }
    TableSchema before = seen.get(0);
    boolean isThere = before.family(VALUE.family()).isPresent();
    TableSchema after =
        isThere ? before.without(VALUE.family()) : before.with(ColumnFamily.of(VALUE.family()));
    recorded.call(
        isThere ? new Action.Clear(RowRange.ALL) : new Action.Other("add family " + VALUE.family()),
        () -> matched(() -> context.client().admin().alterTable(before, after), Code.REFUSED));
  }

  /** Whether a change was made; {@code unmatched} says that it could not be. */
  private static Result matched(IoRunnable change, Code unmatched) throws IOException {
    try {
      change.run();
      return new Result.Done();
    } catch (SteleException e) {
      if (e.code() == unmatched) {
        return new Result.Matched(false);
      }
      throw e;
    }
  }

  @Override
  public void readBack(WorkloadContext context) throws InterruptedException {
    RegisterRows.readBack(context, table, rows);
  }

  @Override
  public List<Violation> check(List<Call> calls) {
    return RegisterRows.check(calls);
  }
}
