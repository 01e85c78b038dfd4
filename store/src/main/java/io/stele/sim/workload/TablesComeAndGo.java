package io.stele.sim.workload;

import io.stele.client.Stele;
import io.stele.client.Table;
import io.stele.model.Bytes;
import io.stele.model.Cell;
import io.stele.model.Row;
import io.stele.model.RowQuery;
import io.stele.model.SteleException;
import io.stele.model.SteleException.Code;
import io.stele.model.TableSchema;
import io.stele.runtime.IoCallable;
import io.stele.runtime.IoRunnable;
import io.stele.sim.check.Action;
import io.stele.sim.check.Call;
import io.stele.sim.check.CallChecker;
import io.stele.sim.check.CallOutcome;
import io.stele.sim.check.History;
import io.stele.sim.check.RegisterChecker;
import io.stele.sim.check.Result;
import io.stele.sim.check.Violation;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.random.RandomGenerator;

/**
 * A few table names under which all clients create, alter, describe, read and drop tables. Each
 * name is a register whose value is the schema of its table: creating one sets it where there is
 * none, dropping it removes it, altering it is a compare-and-set. What is left over of tables is
 * for the simulator to find.
 */
public final class TablesComeAndGo implements Workload {
  private static final String OPEN = "open ";
  private static final String OF = " of ";
  private static final int READ_BACK_TRIES = 60;
  private static final long SPLIT_BYTES = 1 << 20;
  private static final List<Bytes> SPLIT_ROWS = List.of(Bytes.of("m"));

  private final String prefix;
  private final int names;
  private final Pace pace;

  /** With so many names that begin with {@code prefix}. */
  public TablesComeAndGo(String prefix, int names, Pace pace) {
    this.prefix = prefix;
    this.names = names;
    this.pace = pace;
  }

  @Override
  public String name() {
    return "tables";
  }

  @Override
  public String table() {
    return table(0);
  }

  private String table(int number) {
    return prefix + "-" + (char) ('a' + number);
  }

  @Override
  public String claim() {
    return "changes of tables are linearizable, and a name is that of a table that can be read or of none";
  }

  @Override
  public void setUp(Stele client) {
    // Clients create the tables.
  }

  @Override
  public void run(WorkloadContext context, int client) throws InterruptedException {
    RandomGenerator random = context.random();
    while (!context.isOver()) {
      String table = table(random.nextInt(names));
      switch (random.nextInt(5)) {
        case 0 -> create(context, client, table);
        case 1 -> drop(context, client, table);
        case 2 -> alter(context, client, table);
        case 3 -> describe(context, client, table);
        default -> read(context, client, table);
      }
      pace.pause(context);
    }
  }

  @Override
  public void readBack(WorkloadContext context) throws InterruptedException {
    for (int i = 0; i < names; i++) {
      String table = table(i);
      readBack(context, () -> describe(context, History.READ_BACK, table));
      readBack(context, () -> read(context, History.READ_BACK, table));
    }
  }

  /** A call that reads back. */
  @FunctionalInterface
  private interface ReadBack {
    CallOutcome call() throws InterruptedException;
  }

  private static void readBack(WorkloadContext context, ReadBack reading)
      throws InterruptedException {
    for (int tries = 0; tries < READ_BACK_TRIES; tries++) {
      if (reading.call() instanceof CallOutcome.Answered) {
        return;
      }
      context.pause(RecordedTable.TRY_AGAIN);
    }
  }

  @Override
  public List<Violation> check(List<Call> calls) {
    List<Violation> wrong = new ArrayList<>(CallChecker.checkReadBack(sinceOpened(calls)));
    wrong.addAll(RegisterChecker.check(calls, RegisterChecker.STEPS_MAX));
    return wrong;
  }

  /** Without what was read back of a table before it was opened again: it may be gone by then. */
  private static List<Call> sinceOpened(List<Call> calls) {
    List<Call> since = new ArrayList<>();
    for (Call call : calls) {
      String text = readBackText(call);
      if (text.startsWith(OPEN)) {
        String ofTable = OF + text.substring(OPEN.length());
        since.removeIf(earlier -> readBackText(earlier).endsWith(ofTable));
      }
      since.add(call);
    }
    return since;
  }

  private static String readBackText(Call call) {
    return call.client() == History.READ_BACK && call.action() instanceof Action.Other other
        ? other.text()
        : "";
  }

  /** A schema that no other call asks for, so that a table shows which call made it what it is. */
  private static TableSchema fresh(WorkloadContext context, String table) {
    long splitBytes = SPLIT_BYTES + context.random().nextInt(Integer.MAX_VALUE);
    return TableSchema.of(table, "f").withSplitBytes(splitBytes);
  }

  /** A schema as the value of the register that its table's name is. */
  private static Bytes value(TableSchema schema) {
    return Bytes.of(String.valueOf(schema.splitBytes()));
  }

  private static void create(WorkloadContext context, int client, String table)
      throws InterruptedException {
    List<Bytes> splitRows = context.random().nextBoolean() ? SPLIT_ROWS : List.of();
    TableSchema schema = fresh(context, table);
    record(
        context,
        client,
        new Action.CompareAndSet(Bytes.of(table), Optional.empty(), value(schema)),
        () ->
            matched(
                () -> context.client().admin().createTable(schema, splitRows),
                Code.ALREADY_EXISTS));
  }

  private static void drop(WorkloadContext context, int client, String table)
      throws InterruptedException {
    record(
        context,
        client,
        new Action.Remove(Bytes.of(table)),
        () -> matched(() -> context.client().admin().dropTable(table), Code.NOT_FOUND));
  }

  /** Where there is such a table: of none, an alteration says what a look says, too. */
  private static void alter(WorkloadContext context, int client, String table)
      throws InterruptedException {
    CallOutcome seen = describe(context, client, table);
    Optional<Bytes> before =
        seen instanceof CallOutcome.Answered answer && answer.result() instanceof Result.Rows rows
            ? rows.rows().stream().findFirst().map(row -> row.cells().get(0).value())
            : Optional.empty();
    if (before.isPresent()) {
      TableSchema old =
          TableSchema.of(table, "f").withSplitBytes(Long.parseLong(before.get().toUtf8()));
      TableSchema next = fresh(context, table);
      record(
          context,
          client,
          new Action.CompareAndSet(Bytes.of(table), before, value(next)),
          () ->
              matched(
                  () -> context.client().admin().alterTable(old, next),
                  Code.REFUSED,
                  Code.NOT_FOUND));
    }
  }

  private static CallOutcome describe(WorkloadContext context, int client, String table)
      throws InterruptedException {
    Bytes name = Bytes.of(table);
    return record(
        context,
        client,
        new Action.Read(name),
        () -> {
          try {
            Bytes value = value(context.client().admin().describeTable(table));
            return Result.Rows.all(
                List.of(new Row(name, List.of(new Cell("schema", Bytes.EMPTY, 0, value)))));
          } catch (SteleException e) {
            if (e.code() == Code.NOT_FOUND) {
              return Result.Rows.all(List.of());
            }
            throw e;
          }
        });
  }

  /**
   * Reads of the table's two halves, each a call of its own, as opening the table is; that there is
   * no such table is an answer.
   */
  private static CallOutcome read(WorkloadContext context, int client, String table)
      throws InterruptedException {
    List<Table> opened = new ArrayList<>(1);
    CallOutcome outcome =
        ifThere(context, client, OPEN + table, () -> opened.add(context.client().table(table)));
    for (String row : List.of("a", "x")) {
      if (!opened.isEmpty() && outcome instanceof CallOutcome.Answered) {
        outcome =
            ifThere(
                context,
                client,
                "read " + row + OF + table,
                () -> opened.get(0).readRow(Bytes.of(row), RowQuery.ALL));
      }
    }
    return outcome;
  }

  private static CallOutcome ifThere(
      WorkloadContext context, int client, String what, IoRunnable call)
      throws InterruptedException {
    return record(
        context,
        client,
        new Action.Other(what),
        () -> {
          matched(call, Code.NOT_FOUND);
          return new Result.Done();
        });
  }

  /** Whether a change was made; {@code unmatched} are the codes that say that it could not be. */
  private static Result matched(IoRunnable change, Code... unmatched) throws IOException {
    try {
      change.run();
      return new Result.Matched(true);
    } catch (SteleException e) {
      if (List.of(unmatched).contains(e.code())) {
        return new Result.Matched(false);
      }
      throw e;
    }
  }

  private static CallOutcome record(
      WorkloadContext context, int client, Action action, IoCallable<Result> attempt)
      throws InterruptedException {
    int call = context.history().begin(client, action, context.nanoTime());
    CallOutcome outcome;
    try {
      outcome = new CallOutcome.Answered(attempt.call());
    } catch (SteleException e) {
      outcome = RecordedTable.outcome(e);
    } catch (IOException e) {
      RecordedTable.passOnInterrupt(e);
      outcome = RecordedTable.outcome(e);
    }
    context.history().end(call, outcome, context.nanoTime());
    return outcome;
  }
}
