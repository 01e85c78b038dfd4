package io.stele.tablet;

import io.stele.model.Bytes;
import io.stele.model.Cell;
import io.stele.model.CheckAndMutate;
import io.stele.model.Column;
import io.stele.model.Limits;
import io.stele.model.Mutation;
import io.stele.model.OperationSize;
import io.stele.model.ReadModifyWrite;
import io.stele.model.Row;
import io.stele.model.RowOperation;
import io.stele.model.SteleException;
import io.stele.runtime.MemoryClaim;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The result of evaluating an operation: the mutation to make, and the answer to its caller.
 * Operations that depend on the row see it as it will be once all that is queued before them is
 * durable.
 *
 * <p>Safe for use by any number of threads. Whoever calls it holds the lock of the operation's row
 * ({@link RowLocks}) until the mutation is queued.
 */
final class Evaluation {
  /**
   * The most bytes of new cells that a read-modify-write may be told of: they must fit into one
   * frame of the wire, and what does not fit must be refused before it is applied.
   */
  static final long RESULT_BYTES_MAX = 120L << 20;

  private static final int CELL_OVERHEAD_BYTES = 64;
  private static final long NEW_VALUE_COPIES = 5;

  /**
   * An operation evaluated.
   *
   * @param mutation the changes; may have none
   * @param result what to tell when they are durable
   */
  record Evaluated(Mutation mutation, OperationResult result) {}

  private final ReadPath reads;
  private final TabletClock clock;
  private final long valueBytesMax;

  Evaluation(ReadPath reads, TabletClock clock, long valueBytesMax) {
    this.reads = reads;
    this.clock = clock;
    this.valueBytesMax = valueBytesMax;
  }

  /**
   * Evaluates an operation; the caller holds its row's lock.
   *
   * @throws SteleException REFUSED if the row's values do not allow it
   */
  Evaluated evaluate(OperationRequest request) throws IOException {
    RowOperation operation = request.operation();
    MemoryClaim memory = request.memory();
    return switch (operation.kind()) {
      case MUTATION -> new Evaluated((Mutation) operation, OperationResult.APPLIED);
      case CHECK_AND_MUTATE -> evaluate((CheckAndMutate) operation, memory);
      case READ_MODIFY_WRITE -> evaluate((ReadModifyWrite) operation, memory, request.memtable());
    };
  }

  private Evaluated evaluate(CheckAndMutate conditional, MemoryClaim memory) throws IOException {
    RowFilter predicate = RowFilter.of(conditional.predicate(), memory);
    ColumnSelection columns = ColumnSelection.decidingFor(conditional.predicate());
    List<Cell> cells = reads.queuedRow(conditional.row(), columns, Integer.MAX_VALUE, memory);
    boolean holds = !cells.isEmpty() && !predicate.apply(conditional.row(), cells).isEmpty();
    return holds
        ? new Evaluated(conditional.ifTrue(), OperationResult.APPLIED)
        : new Evaluated(conditional.ifFalse(), OperationResult.NOT_MATCHED);
  }

  private Evaluated evaluate(ReadModifyWrite change, MemoryClaim memory, MemoryClaim memtable)
      throws IOException {
    List<Column> columns =
        change.rules().stream().map(rule -> new Column(rule.family(), rule.qualifier())).toList();
    ColumnSelection selection = ColumnSelection.of(List.of(), columns);
    Map<Column, Cell> newest = new LinkedHashMap<>();
    for (Cell cell : reads.queuedRow(change.row(), selection, 1, memory)) {
      newest.put(new Column(cell.family(), cell.qualifier()), cell);
    }
    long now = clock.assign();
    Map<Column, Cell> written = new LinkedHashMap<>();
    long rowKeyBytes = OperationSize.keyBytes(change.row());
    long bytes = 0;
    for (ReadModifyWrite.Rule rule : change.rules()) {
      Column column = new Column(rule.family(), rule.qualifier());
      Optional<Cell> before = Optional.ofNullable(newest.get(column));
      // The new value, in the log's record, in the memtable, in the answer.
      long grownFrom = before.map(cell -> (long) cell.value().length()).orElse(0L);
      memory.take(NEW_VALUE_COPIES * grownFrom);
      if (rule.kind() == ReadModifyWrite.Rule.Kind.APPEND && !written.containsKey(column)) {
        memtable.take(grownFrom);
      }
      Bytes value = apply(change.row(), rule, before.map(Cell::value));
      // Not below the version it replaces, or it would not be the newest.
      long timestamp = Math.max(now, before.map(Cell::timestampMicros).orElse(0L));
      Cell cell = new Cell(rule.family(), rule.qualifier(), timestamp, value);
      newest.put(column, cell);
      Cell replaced = written.put(column, cell);
      bytes += bytes(rowKeyBytes, cell);
      bytes -= replaced == null ? 0 : bytes(rowKeyBytes, replaced);
      Limits.checkMutationBytes(change.row(), bytes);
    }
    checkResult(change.row(), written.values());
    List<Cell> row = new ArrayList<>(written.values());
    row.sort(RowFilter.ORDER);
    Mutation.Builder mutation = Mutation.builder(change.row());
    for (Cell cell : row) {
      mutation.put(cell.family(), cell.qualifier(), cell.timestampMicros(), cell.value());
    }
    return new Evaluated(
        mutation.build(), new OperationResult(true, Optional.of(new Row(change.row(), row))));
  }

  private static void checkResult(Bytes row, Collection<Cell> cells) {
    long bytes = 2L * row.length(); // Keys may take twice their length where zeros are escaped.
    for (Cell cell : cells) {
      bytes += cell.family().length() + cell.value().length() + CELL_OVERHEAD_BYTES;
      bytes += 2L * cell.qualifier().length();
    }
    if (bytes > RESULT_BYTES_MAX) {
      throw SteleException.refused(
          "the new cells of row \""
              + row
              + "\" would have "
              + bytes
              + " bytes, but an answer may have only "
              + RESULT_BYTES_MAX
              + ": nothing was changed; change fewer columns at a time");
    }
  }

  private static long bytes(long rowKeyBytes, Cell cell) {
    return OperationSize.cell(rowKeyBytes, cell.family(), cell.qualifier(), cell.value().length());
  }

  private Bytes apply(Bytes row, ReadModifyWrite.Rule rule, Optional<Bytes> before) {
    return switch (rule.kind()) {
      case APPEND -> append(row, (ReadModifyWrite.Append) rule, before.orElse(Bytes.EMPTY));
      case INCREMENT -> increment(row, (ReadModifyWrite.Increment) rule, before);
    };
  }

  private Bytes append(Bytes row, ReadModifyWrite.Append rule, Bytes before) {
    long length = before.length() + (long) rule.suffix().length();
    if (length > valueBytesMax) {
      throw SteleException.refused(
          "appending to "
              + new Column(rule.family(), rule.qualifier())
              + " of row \""
              + row
              + "\" would make a value of "
              + length
              + " bytes: the limit is "
              + valueBytesMax
              + " (stele.value.bytes.max); raise it, or write the value in several cells");
    }
    return before.concat(rule.suffix());
  }

  private static Bytes increment(
      Bytes row, ReadModifyWrite.Increment rule, Optional<Bytes> before) {
    if (before.isPresent() && before.get().length() != Long.BYTES) {
      throw SteleException.refused(
          "the value of "
              + new Column(rule.family(), rule.qualifier())
              + " of row \""
              + row
              + "\" has "
              + before.get().length()
              + " bytes and cannot be incremented: a counter has 8 bytes");
    }
    return Bytes.ofLong(before.map(Bytes::toLong).orElse(0L) + rule.amount());
  }
}
