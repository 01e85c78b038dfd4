package io.stele.sim.workload;

import io.stele.client.Cells;
import io.stele.client.Outcome;
import io.stele.client.RowChangedException;
import io.stele.client.Rows;
import io.stele.client.Stele;
import io.stele.client.Table;
import io.stele.model.Bytes;
import io.stele.model.Cell;
import io.stele.model.CheckAndMutate;
import io.stele.model.Column;
import io.stele.model.Filter;
import io.stele.model.Mutation;
import io.stele.model.Row;
import io.stele.model.RowQuery;
import io.stele.model.RowRange;
import io.stele.model.SteleException;
import io.stele.model.TableSchema;
import io.stele.runtime.IoCallable;
import io.stele.sim.check.Action;
import io.stele.sim.check.Call;
import io.stele.sim.check.CallOutcome;
import io.stele.sim.check.History;
import io.stele.sim.check.Result;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/**
 * A table whose calls are recorded, for one client of a workload. What Stele may fail with becomes
 * an outcome; anything else is thrown, and its call stays without an end. Not thread-safe.
 */
final class RecordedTable {
  static final Duration TRY_AGAIN = Duration.ofSeconds(1);
  private static final int READ_BACK_TRIES = 60;

  /** So little that tables split while they are worked on. */
  private static final long SPLIT_BYTES = 4 << 10;

  private static final int SCAN_TRIES = 3;

  /** So little that a row of a few cells comes in several parts. */
  private static final long ROW_BYTES_IN_PARTS = 64;

  private static final int CELL_PAUSE_MAX_MILLIS = 1500;

  private final WorkloadContext context;
  private final int client;
  private final Table table;

  private RecordedTable(WorkloadContext context, int client, Table table) {
    this.context = context;
    this.client = client;
    this.table = table;
  }

  /** Creates the table of a workload, unless there is one of its name. */
  static void create(Stele stele, TableSchema schema, List<Bytes> splitRows) throws IOException {
    if (stele.admin().tableExists(schema.name())) {
      return;
    }
    try {
      stele.admin().createTable(schema.withSplitBytes(SPLIT_BYTES), splitRows);
    } catch (SteleException e) {
      if (e.code() != SteleException.Code.ALREADY_EXISTS
          || !stele.admin().tableExists(schema.name())) {
        throw e;
      } // An earlier attempt, whose outcome was not known, had begun it.
    }
  }

  /** Opens the table, trying until the run is over; empty if it is. */
  static Optional<RecordedTable> open(WorkloadContext context, int client, String name)
      throws InterruptedException {
    while (!context.isOver()) {
      Optional<RecordedTable> opened = tryToOpen(context, client, name);
      if (opened.isPresent()) {
        return opened;
      }
      context.pause(TRY_AGAIN);
    }
    return Optional.empty();
  }

  /** A call that reads back what there is. */
  @FunctionalInterface
  interface ReadBack {
    CallOutcome read(RecordedTable table) throws InterruptedException;
  }

  /** Makes each call until it is answered, or has failed too often. */
  static void readBack(WorkloadContext context, String name, List<ReadBack> calls)
      throws InterruptedException {
    Optional<RecordedTable> opened = Optional.empty();
    for (int i = 0; i < READ_BACK_TRIES && opened.isEmpty(); i++) {
      opened = tryToOpen(context, History.READ_BACK, name);
      if (opened.isEmpty()) {
        context.pause(TRY_AGAIN);
      }
    }
    if (opened.isPresent()) {
      for (ReadBack call : calls) {
        for (int i = 0; i < READ_BACK_TRIES && !isWhole(call.read(opened.get())); i++) {
          context.pause(TRY_AGAIN);
        }
      }
    }
  }

  /** Reads all rows back. */
  static void readBackAll(WorkloadContext context, String name) throws InterruptedException {
    readBack(context, name, List.of(table -> table.scan(RowRange.ALL, Long.MAX_VALUE)));
  }

  /** Whether it was answered, and not in part only. */
  static boolean isWhole(CallOutcome outcome) {
    return outcome instanceof CallOutcome.Answered answer
        && !(answer.result() instanceof Result.Rows rows && rows.cutShort().isPresent());
  }

  private static Optional<RecordedTable> tryToOpen(WorkloadContext context, int client, String name)
      throws InterruptedException {
    Table[] opened = new Table[1];
    record(
        context,
        client,
        new Action.Other("open table " + name),
        () -> {
          opened[0] = context.client().table(name);
          return new Result.Done();
        });
    return Optional.ofNullable(opened[0]).map(table -> new RecordedTable(context, client, table));
  }

  /** What is asked of a table, with pauses or without. */
  @FunctionalInterface
  private interface Attempt {
    Result make() throws IOException, InterruptedException;
  }

  private static CallOutcome record(
      WorkloadContext context, int client, Action action, IoCallable<Result> attempt)
      throws InterruptedException {
    long begun = context.nanoTime();
    return record(context, client, action, attempt::call, () -> context.nanoTime() - begun);
  }

  /**
   * Records a call.
   *
   * @param longestWaitNanos asked after the attempt; see {@link Call#longestWaitNanos()}
   */
  private static CallOutcome record(
      WorkloadContext context,
      int client,
      Action action,
      Attempt attempt,
      LongSupplier longestWaitNanos)
      throws InterruptedException {
    int number = context.history().begin(client, action, context.nanoTime());
    CallOutcome outcome;
    Optional<Exception> failure = Optional.empty();
    try {
      outcome = new CallOutcome.Answered(attempt.make());
    } catch (SteleException | IOException e) {
      outcome = outcome(e);
      failure = Optional.of(e);
    }
    context.history().end(number, outcome, context.nanoTime(), longestWaitNanos.getAsLong());
    if (failure.isPresent()) {
      passOnInterrupt(failure.get());
    }
    return outcome;
  }

  /** What a failure says of the outcome. */
  static CallOutcome outcome(Throwable failure) {
    return failure instanceof SteleException e && e.code() != SteleException.Code.OUTCOME_UNKNOWN
        ? new CallOutcome.Rejected(e.code(), String.valueOf(e.getMessage()))
        : new CallOutcome.Unknown(String.valueOf(failure.getMessage()));
  }

  /** Ends the client where the thread was interrupted: its calls would all fail. */
  static void passOnInterrupt(Exception failure) throws InterruptedException {
    if (failure instanceof InterruptedIOException && !(failure instanceof SocketTimeoutException)) {
      throw new InterruptedException(failure.getMessage());
    }
  }

  /** What a call returns, unless it fails as calls may. */
  static <T> Optional<T> ofCall(IoCallable<T> work) throws InterruptedException {
    try {
      return Optional.of(work.call());
    } catch (SteleException e) {
      return Optional.empty();
    } catch (IOException e) {
      passOnInterrupt(e);
      return Optional.empty();
    }
  }

  /** The table itself. */
  Table table() {
    return table;
  }

  /** Makes a call and records it as {@code action}. */
  CallOutcome call(Action action, IoCallable<Result> attempt) throws InterruptedException {
    return record(context, client, action, attempt);
  }

  /** Makes a mutation, recorded as {@code action}. */
  CallOutcome mutate(Action action, Mutation mutation) throws InterruptedException {
    return call(
        action,
        () -> {
          table.mutate(mutation);
          return new Result.Done();
        });
  }

  /** Makes mutations in one call, each recorded as the action of the same place. */
  void mutateAll(List<Action> actions, List<Mutation> mutations) throws InterruptedException {
    History history = context.history();
    long begun = context.nanoTime();
    int[] calls =
        actions.stream().mapToInt(action -> history.begin(client, action, begun)).toArray();
    List<CallOutcome> outcomes;
    Optional<Exception> failure = Optional.empty();
    try {
      outcomes = table.mutateAll(mutations).stream().map(RecordedTable::outcome).toList();
    } catch (SteleException | IOException e) {
      outcomes = Collections.nCopies(calls.length, outcome(e));
      failure = Optional.of(e);
    }
    long ended = context.nanoTime();
    for (int i = 0; i < calls.length; i++) {
      history.end(calls[i], outcomes.get(i), ended);
    }
    if (failure.isPresent()) {
      passOnInterrupt(failure.get());
    }
  }

  private static CallOutcome outcome(Outcome outcome) {
    return outcome
        .failure()
        .map(RecordedTable::outcome)
        .orElseGet(() -> new CallOutcome.Answered(new Result.Done()));
  }

  /** Reads a row. */
  CallOutcome read(Bytes row) throws InterruptedException {
    return call(
        new Action.Read(row),
        () -> Result.Rows.all(table.readRow(row, RowQuery.ALL).stream().toList()));
  }

  /** The same, in which every row comes in parts. */
  RecordedTable inParts() {
    return new RecordedTable(context, client, table.withRowBytesMax(ROW_BYTES_IN_PARTS));
  }

  /**
   * Reads a row cell by cell, with pauses in which its tablet may move or lose its server. As often
   * as it can no longer be read as it was, it is read from the start.
   */
  CallOutcome readSlowly(Bytes row) throws InterruptedException {
    AtomicLong longest = new AtomicLong();
    return record(
        context,
        client,
        new Action.Read(row),
        () -> {
          Optional<List<Cell>> cells = Optional.empty();
          while (cells.isEmpty()) {
            cells = readCellByCell(row, longest);
          }
          return Result.Rows.all(
              cells.get().isEmpty() ? List.of() : List.of(new Row(row, cells.get())));
        },
        longest::get);
  }

  /**
   * The cells of a row; empty if it can no longer be read as it was.
   *
   * @param longest is told how long the cells were waited for, in nanoseconds
   */
  private Optional<List<Cell>> readCellByCell(Bytes row, AtomicLong longest)
      throws IOException, InterruptedException {
    List<Cell> read = new ArrayList<>();
    try (Cells cells = table.readCells(row, RowQuery.ALL)) {
      while (true) {
        Optional<Cell> cell;
        long before = context.nanoTime();
        try {
          cell = cells.read();
        } finally {
          longest.accumulateAndGet(context.nanoTime() - before, Math::max);
        }
        if (cell.isEmpty()) {
          return Optional.of(read);
        }
        read.add(cell.get());
        context.pause(Duration.ofMillis(context.random().nextInt(CELL_PAUSE_MAX_MILLIS)));
      }
    } catch (RowChangedException e) {
      return Optional.empty();
    }
  }

  /**
   * Makes a change if its row has a value.
   *
   * @param column where the row has its value
   * @param expected the value that it must have; empty: none at all
   * @param value the one that {@code change} gives it
   */
  CallOutcome compareAndSet(Column column, Optional<Bytes> expected, Bytes value, Mutation change)
      throws InterruptedException {
    CheckAndMutate operation =
        expected
            .map(old -> CheckAndMutate.ifAny(Filter.newestIs(column, old), change))
            .orElseGet(() -> CheckAndMutate.ifNone(new Filter.ColumnIs(column), change));
    return call(
        new Action.CompareAndSet(change.row(), expected, value),
        () -> new Result.Matched(table.checkAndMutate(operation) == expected.isPresent()));
  }

  /** Reads a row: empty if it is not there, or the read failed. */
  Optional<Row> readRow(Bytes row) throws InterruptedException {
    return read(row) instanceof CallOutcome.Answered answer
            && answer.result() instanceof Result.Rows rows
        ? rows.rows().stream().findFirst()
        : Optional.empty();
  }

  /** Scans, going on a few times where it fails for want of a server. */
  CallOutcome scan(RowRange range, long limit) throws InterruptedException {
    int number = context.history().begin(client, new Action.Scan(range, limit), context.nanoTime());
    List<Row> read = new ArrayList<>();
    CallOutcome outcome = null;
    Optional<Exception> failure = Optional.empty();
    int tries = 0;
    long longest = 0;
    long before = context.nanoTime();
    try (Rows rows = table.readRows(RowQuery.ALL.range(range).limit(limit))) {
      while (outcome == null) {
        try {
          Optional<Row> row = rows.read();
          row.ifPresent(seen -> read.add(context.history().shared(seen)));
          if (row.isEmpty()) {
            outcome = new CallOutcome.Answered(Result.Rows.all(read));
          }
        } catch (SteleException e) {
          tries++;
          if (e.code() != SteleException.Code.RETRY_LATER || tries == SCAN_TRIES) {
            outcome = new CallOutcome.Answered(new Result.Rows(read, Optional.of(e.code())));
          }
        }
        long now = context.nanoTime();
        longest = Math.max(longest, now - before);
        before = now;
      }
    } catch (SteleException | IOException e) {
      outcome = outcome(e);
      failure = Optional.of(e);
    }
    context.history().end(number, outcome, before, Math.max(longest, context.nanoTime() - before));
    if (failure.isPresent()) {
      passOnInterrupt(failure.get());
    }
    return outcome;
  }
}
