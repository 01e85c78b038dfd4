package io.stele.sim.workload;

import io.stele.client.Stele;
import io.stele.model.Bytes;
import io.stele.model.Column;
import io.stele.model.ColumnFamily;
import io.stele.model.LocalityGroup;
import io.stele.model.Mutation;
import io.stele.model.RowRange;
import io.stele.model.TableSchema;
import io.stele.sim.check.Action;
import io.stele.sim.check.Call;
import io.stele.sim.check.CallChecker;
import io.stele.sim.check.RowChecker;
import io.stele.sim.check.Violation;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.random.RandomGenerator;

/**
 * Rows with columns in two locality groups, all of one value, that clients write, delete and write
 * again while others read and scan them: no read sees a half-changed row, also where a row comes in
 * parts between which its tablet moves.
 */
public final class AtomicRows extends TableWorkload {
  private static final List<Column> COLUMNS =
      List.of(Column.of("a", "1"), Column.of("a", "2"), Column.of("b", "1"), Column.of("b", "2"));

  private static final int SEVERAL = 3;

  private final int rows;

  /** With so many rows in a table of that name. */
  public AtomicRows(String table, int rows, Pace pace) {
    super("atomic", "nobody sees a row half changed", table, pace);
    this.rows = rows;
  }

  @Override
  public void setUp(Stele client) throws IOException {
    TableSchema schema =
        TableSchema.of(
            table,
            List.of(ColumnFamily.of("a"), ColumnFamily.of("b").in("other")),
            LocalityGroup.of("other"));
    RecordedTable.create(client, schema, List.of(row(rows / 2)));
  }

  @Override
  public void run(WorkloadContext context, int client) throws InterruptedException {
    Optional<RecordedTable> opened = RecordedTable.open(context, client, table);
    RandomGenerator random = context.random();
    for (int i = 0; opened.isPresent() && !context.isOver(); i++) {
      RecordedTable table = random.nextBoolean() ? opened.get() : opened.get().inParts();
      int number = random.nextInt(rows);
      Bytes row = row(number);
      Bytes value = Bytes.of(client + "-" + i);
      int choice = random.nextInt(100);
      if (choice < 8) {
        table.inParts().readSlowly(row);
      } else if (choice < 25) {
        table.read(row);
      } else if (choice < 45) {
        table.scan(RowRange.ALL, Long.MAX_VALUE);
      } else if (choice < 55) {
        table.scan(new RowRange(row, Bytes.EMPTY), 1 + random.nextInt(rows));
      } else if (choice < 63) {
        table.mutate(new Action.Delete(row), delete(row, random));
      } else if (choice < 75) {
        writeSeveral(table, number, value, random);
      } else {
        table.mutate(new Action.Write(row, value), write(row, value, random));
      }
      pace.pause(context);
    }
  }

  /** Writes a row and those after it in one call: each is whole, not all of them together. */
  private void writeSeveral(RecordedTable table, int first, Bytes value, RandomGenerator random)
      throws InterruptedException {
    List<Action> actions = new ArrayList<>();
    List<Mutation> mutations = new ArrayList<>();
    for (int number = first; number < Math.min(first + SEVERAL, rows); number++) {
      actions.add(new Action.Write(row(number), value));
      mutations.add(write(row(number), value, random));
    }
    table.mutateAll(actions, mutations);
  }

  private static Mutation write(Bytes row, Bytes value, RandomGenerator random) {
    Mutation.Builder write = Mutation.builder(row);
    if (random.nextInt(3) == 0) {
      delete(row, random).edits().forEach(write::with);
    }
    COLUMNS.forEach(column -> write.put(column.family(), column.qualifier(), value));
    return write.build();
  }

  private static Mutation delete(Bytes row, RandomGenerator random) {
    Mutation before = Mutation.of(row);
    return random.nextBoolean()
        ? before.deleteRow()
        : before.deleteFamily("a").deleteColumn("b", "1").deleteColumn("b", "2");
  }

  @Override
  public void readBack(WorkloadContext context) throws InterruptedException {
    List<RecordedTable.ReadBack> reads = new ArrayList<>();
    reads.add(table -> table.scan(RowRange.ALL, Long.MAX_VALUE));
    for (int i = 0; i < rows; i++) {
      Bytes row = row(i);
      reads.add(table -> table.read(row));
    }
    RecordedTable.readBack(context, table, reads);
  }

  @Override
  public List<Violation> check(List<Call> calls) {
    List<Violation> violations = new ArrayList<>(RowChecker.check(calls, Set.copyOf(COLUMNS)));
    violations.addAll(CallChecker.checkReadBack(calls));
    return violations;
  }

  private static Bytes row(int number) {
    return Bytes.of("row" + (char) ('a' + number));
  }
}
