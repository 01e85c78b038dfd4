package io.stele.sim.workload;

import io.stele.client.Stele;
import io.stele.model.Bytes;
import io.stele.model.Column;
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
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.random.RandomGenerator;

/**
 * A table that only grows, so that it is split, and is scanned meanwhile: a scan misses no row that
 * was acknowledged before it began, repeats none, and gives them in ascending order.
 */
public final class CompleteScans extends TableWorkload {
  private static final Column VALUE = Column.of("f", "value");

  private final int rowsMax;
  private final int valueBytes;

  /**
   * The workload.
   *
   * @param table the name of its table
   * @param rowsMax how many rows each client inserts at most; all of them are in every whole scan
   * @param valueBytes the size of their values
   */
  public CompleteScans(String table, int rowsMax, int valueBytes, Pace pace) {
    super("scans", "a scan misses no row and repeats none, while the table splits", table, pace);
    this.rowsMax = rowsMax;
    this.valueBytes = valueBytes;
  }

  @Override
  public void setUp(Stele client) throws IOException {
    RecordedTable.create(
        client, TableSchema.of(table, VALUE.family()), List.of(Bytes.of("6"), Bytes.of("b")));
  }

  @Override
  public void run(WorkloadContext context, int client) throws InterruptedException {
    Optional<RecordedTable> opened = RecordedTable.open(context, client, table);
    RandomGenerator random = context.random();
    // As in a time series: earlier tablets are left alone, and the last one grows.
    boolean ascending = random.nextBoolean();
    int first = random.nextInt();
    int inserted = 0;
    while (opened.isPresent() && !context.isOver()) {
      RecordedTable table = opened.get();
      int choice = random.nextInt(100);
      if (choice < 5) {
        table.scan(RowRange.ALL, Long.MAX_VALUE);
      } else if (choice < 15) {
        table.scan(RowRange.prefix(spread(random).slice(0, 1)), Long.MAX_VALUE);
      } else if (choice < 25) {
        table.scan(new RowRange(spread(random), Bytes.EMPTY), 1 + random.nextInt(20));
      } else if (choice < 50 && inserted < rowsMax) {
        Bytes row = ascending ? hex(first + inserted) : spread(random);
        insert(table, row.concat(Bytes.of("-" + client + "-" + inserted)), random);
        inserted++;
      }
      pace.pause(context);
    }
  }

  private void insert(RecordedTable table, Bytes row, RandomGenerator random)
      throws InterruptedException {
    byte[] value = new byte[valueBytes];
    random.nextBytes(value); // So that compression does not keep the table from splitting.
    Mutation put = Mutation.of(row).put(VALUE.family(), VALUE.qualifier(), Bytes.wrap(value));
    table.mutate(new Action.Write(row, Bytes.wrap(value)), put);
  }

  private static Bytes spread(RandomGenerator random) {
    return hex(random.nextInt());
  }

  private static Bytes hex(int number) {
    return Bytes.of(HexFormat.of().toHexDigits(number));
  }

  @Override
  public List<Violation> check(List<Call> calls) {
    List<Violation> violations = new ArrayList<>(RowChecker.check(calls, Set.of(VALUE)));
    violations.addAll(CallChecker.checkReadBack(calls));
    return violations;
  }
}
