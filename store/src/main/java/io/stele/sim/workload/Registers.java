package io.stele.sim.workload;

import io.stele.client.Admin;
import io.stele.client.Stele;
import io.stele.model.Bytes;
import io.stele.model.Column;
import io.stele.model.Mutation;
import io.stele.model.RowRange;
import io.stele.model.TableSchema;
import io.stele.sim.check.Action;
import io.stele.sim.check.Call;
import io.stele.sim.check.Result;
import io.stele.sim.check.Violation;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.random.RandomGenerator;

/**
 * A few rows that all clients read, write, delete and compare and set: each row is linearizable. No
 * value is written twice.
 */
public final class Registers extends TableWorkload {
  private static final Column VALUE = Column.of("f", "value");

  private final int rows;
  private final int clearedOfHundred;

  /** With so many rows in a table of that name. */
  public Registers(String table, int rows, Pace pace) {
    super(
        "registers",
        "reads, writes, deletes and compare-and-sets of a row are linearizable",
        table,
        pace);
    this.rows = rows;
    this.clearedOfHundred = 0;
  }

  private Registers(String table, int rows, int clearedOfHundred, Pace pace) {
    super("clears", "deletes of ranges of rows are linearizable row by row", table, pace);
    this.rows = rows;
    this.clearedOfHundred = clearedOfHundred;
  }

  /** The same, of whose rows ranges are deleted, too. */
  public static Registers cleared(String table, int rows, int ofHundred, Pace pace) {
    return new Registers(table, rows, ofHundred, pace);
  }

  @Override
  public void setUp(Stele client) throws IOException {
    TableSchema schema = TableSchema.of(table, VALUE.family());
    RecordedTable.create(
        client,
        clearedOfHundred > 0 ? schema.with(UNCACHED) : schema,
        List.of(RegisterRows.row(rows / 2)));
  }

  @Override
  public void run(WorkloadContext context, int client) throws InterruptedException {
    Optional<RecordedTable> opened = RecordedTable.open(context, client, table);
    RandomGenerator random = context.random();
    Map<Bytes, Bytes> lastSeen = new HashMap<>();
    // Some hardly ever write: a server that lost its tablets would notice by a write.
    int reads = client == 0 ? 40 : List.of(40, 40, 98, 100).get(random.nextInt(4));
    for (int i = 0; opened.isPresent() && !context.isOver(); i++) {
      RecordedTable table = opened.get();
      Bytes row = RegisterRows.row(random.nextInt(rows));
      Bytes value = Bytes.of(client + "-" + i);
      int choice = random.nextInt(100);
      if (clearedOfHundred > 0 && random.nextInt(100) < clearedOfHundred) {
        clear(context, table, random);
      } else if (choice < reads) {
        lastSeen.remove(row);
        table
            .readRow(row)
            .flatMap(found -> found.cell(VALUE.family(), VALUE.qualifier()))
            .ifPresent(cell -> lastSeen.put(row, cell.value()));
      } else if (choice < 70) {
        table.mutate(new Action.Write(row, value), put(row, value));
        lastSeen.put(row, value);
      } else if (choice < 75) {
        table.mutate(new Action.Delete(row), Mutation.of(row).deleteRow());
        lastSeen.remove(row);
      } else {
        compareAndSet(table, row, Optional.ofNullable(lastSeen.get(row)), value);
        lastSeen.put(row, value);
      }
      pace.pause(context);
    }
  }

  private void clear(WorkloadContext context, RecordedTable table, RandomGenerator random)
      throws InterruptedException {
    int first = random.nextInt(rows);
    int end = first + 1 + random.nextInt(rows);
    RowRange range =
        random.nextInt(4) == 0
            ? RowRange.ALL
            : new RowRange(
                RegisterRows.row(first), end < rows ? RegisterRows.row(end) : Bytes.EMPTY);
    table.call(
        new Action.Clear(range),
        () -> {
          Admin admin = context.client().admin();
          if (range.equals(RowRange.ALL)) {
            admin.truncateTable(this.table);
          } else {
            admin.deleteRows(this.table, range);
          }
          return new Result.Done();
        });
  }

  private static void compareAndSet(
      RecordedTable table, Bytes row, Optional<Bytes> expected, Bytes value)
      throws InterruptedException {
    table.compareAndSet(VALUE, expected, value, put(row, value));
  }

  private static Mutation put(Bytes row, Bytes value) {
    return Mutation.of(row).put(VALUE.family(), VALUE.qualifier(), value);
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
