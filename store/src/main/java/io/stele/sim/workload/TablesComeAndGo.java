package io.stele.sim.workload;

import io.stele.client.Admin;
import io.stele.client.Stele;
import io.stele.model.Bytes;
import io.stele.model.RowQuery;
import io.stele.model.SteleException;
import io.stele.model.SteleException.Code;
import io.stele.model.TableSchema;
import io.stele.sim.check.Action;
import io.stele.sim.check.Call;
import io.stele.sim.check.CallChecker;
import io.stele.sim.check.CallOutcome;
import io.stele.sim.check.History;
import io.stele.sim.check.Result;
import io.stele.sim.check.Violation;
import java.io.IOException;
import java.util.List;
import java.util.random.RandomGenerator;

/**
 * A few table names under which all clients create, alter, read and drop tables. At the end each
 * name is that of a table that can be read, or of none; what is left over of tables is for the
 * simulator to find.
 */
public final class TablesComeAndGo implements Workload {
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
    return "a name is that of a table that can be read, or of none";
  }

  @Override
  public void setUp(Stele client) {
    // Clients create the tables.
  }

  @Override
  public void run(WorkloadContext context, int client) throws InterruptedException {
    RandomGenerator random = context.random();
    Admin admin = context.client().admin();
    while (!context.isOver()) {
      String table = table(random.nextInt(names));
      switch (random.nextInt(4)) {
        case 0 -> {
          List<Bytes> splitRows = random.nextBoolean() ? SPLIT_ROWS : List.of();
          record(context, client, "create " + table, () -> admin.createTable(of(table), splitRows));
        }
        case 1 -> record(context, client, "drop " + table, () -> admin.dropTable(table));
        case 2 -> {
          long splitBytes = SPLIT_BYTES + random.nextInt(1000);
          record(
              context,
              client,
              "alter " + table,
              () -> admin.alterTable(of(table), of(table).withSplitBytes(splitBytes)),
              () -> admin.alterTable(of(table).withSplitBytes(splitBytes), of(table)));
        }
        default -> read(context, client, table);
      }
      pace.pause(context);
    }
  }

  @Override
  public void readBack(WorkloadContext context) throws InterruptedException {
    for (int i = 0; i < names; i++) {
      String table = table(i);
      for (int tries = 0; tries < READ_BACK_TRIES; tries++) {
        if (read(context, History.READ_BACK, table) instanceof CallOutcome.Answered) {
          break;
        }
        context.pause(RecordedTable.TRY_AGAIN);
      }
    }
  }

  @Override
  public List<Violation> check(List<Call> calls) {
    return CallChecker.checkReadBack(calls);
  }

  private static TableSchema of(String table) {
    return TableSchema.of(table, "f").withSplitBytes(SPLIT_BYTES);
  }

  private static CallOutcome read(WorkloadContext context, int client, String table)
      throws InterruptedException {
    return record(
        context,
        client,
        "read " + table,
        () -> context.client().table(table),
        () -> context.client().table(table).readRow(Bytes.of("a"), RowQuery.ALL),
        () -> context.client().table(table).readRow(Bytes.of("x"), RowQuery.ALL));
  }

  /** A call, which may do what it likes. */
  @FunctionalInterface
  private interface Asked {
    void ask() throws IOException;
  }

  /** Makes calls in turn until one fails; that there is such a table, or none, is an answer. */
  private static CallOutcome record(
      WorkloadContext context, int client, String what, Asked... calls)
      throws InterruptedException {
    int call = context.history().begin(client, new Action.Other(what), context.nanoTime());
    CallOutcome outcome;
    long longest = 0;
    long begun = context.nanoTime();
    try {
      for (Asked asked : calls) {
        begun = context.nanoTime();
        asked.ask();
        longest = Math.max(longest, context.nanoTime() - begun);
      }
      outcome = new CallOutcome.Answered(new Result.Done());
    } catch (SteleException e) {
      outcome =
          e.code() == Code.REFUSED || e.code() == Code.NOT_FOUND
              ? new CallOutcome.Answered(new Result.Done())
              : RecordedTable.outcome(e);
    } catch (IOException e) {
      RecordedTable.passOnInterrupt(e);
      outcome = RecordedTable.outcome(e);
    }
    longest = Math.max(longest, context.nanoTime() - begun);
    context.history().end(call, outcome, context.nanoTime(), longest);
    return outcome;
  }
}
