package io.stele.tablet;

import io.stele.model.Bytes;
import io.stele.model.Cell;
import io.stele.model.CheckAndMutate;
import io.stele.model.Column;
import io.stele.model.Edit;
import io.stele.model.Mutation;
import io.stele.model.ReadModifyWrite;
import io.stele.model.Row;
import io.stele.model.RowOperation;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** What row operations mean, said over a {@link PlainModel}. */
final class PlainOperations {
  private PlainOperations() {}

  /** What an operation does to the table, and what it answers. */
  record Evaluated(Mutation mutation, OperationResult result) {}

  /**
   * Evaluates an operation over what is queued before it; empty where the row's values do not allow
   * it.
   */
  static Optional<Evaluated> evaluate(PlainModel queued, RowOperation operation, long nowMicros) {
    return switch (operation.kind()) {
      case MUTATION ->
          Optional.of(
              new Evaluated(resolve((Mutation) operation, nowMicros), OperationResult.APPLIED));
      case CHECK_AND_MUTATE -> {
        CheckAndMutate check = (CheckAndMutate) operation;
        List<Cell> cells = queued.row(check.row(), nowMicros);
        boolean holds = !PlainFilters.apply(check.predicate(), check.row(), cells).isEmpty();
        yield Optional.of(
            new Evaluated(
                resolve(holds ? check.ifTrue() : check.ifFalse(), nowMicros),
                holds ? OperationResult.APPLIED : OperationResult.NOT_MATCHED));
      }
      case READ_MODIFY_WRITE -> evaluate(queued, (ReadModifyWrite) operation, nowMicros);
    };
  }

  private static Optional<Evaluated> evaluate(
      PlainModel queued, ReadModifyWrite change, long nowMicros) {
    Map<Column, Cell> newest = new LinkedHashMap<>();
    for (Cell cell : queued.row(change.row(), nowMicros)) {
      newest.putIfAbsent(new Column(cell.family(), cell.qualifier()), cell);
    }
    Map<Column, Cell> written = new LinkedHashMap<>();
    for (ReadModifyWrite.Rule rule : change.rules()) {
      Column column = new Column(rule.family(), rule.qualifier());
      Optional<Cell> before = Optional.ofNullable(newest.get(column));
      Bytes value;
      if (rule instanceof ReadModifyWrite.Increment increment) {
        if (before.isPresent() && before.get().value().length() != 8) {
          return Optional.empty();
        }
        value = Bytes.ofLong(before.map(c -> c.value().toLong()).orElse(0L) + increment.amount());
      } else {
        Bytes suffix = ((ReadModifyWrite.Append) rule).suffix();
        value = before.map(c -> c.value().concat(suffix)).orElse(suffix);
      }
      long timestamp = Math.max(nowMicros, before.map(Cell::timestampMicros).orElse(0L));
      Cell cell = new Cell(rule.family(), rule.qualifier(), timestamp, value);
      newest.put(column, cell);
      written.put(column, cell);
    }
    Mutation.Builder mutation = Mutation.builder(change.row());
    List<Cell> cells = new ArrayList<>(written.values());
    cells.sort(PlainFilters.ORDER);
    cells.forEach(
        cell ->
            mutation.put(cell.family(), cell.qualifier(), cell.timestampMicros(), cell.value()));
    return Optional.of(
        new Evaluated(
            mutation.build(),
            new OperationResult(true, Optional.of(new Row(change.row(), cells)))));
  }

  /** The mutation with the timestamps that the tablet gives it at {@code nowMicros}. */
  static Mutation resolve(Mutation mutation, long nowMicros) {
    Mutation.Builder resolved = Mutation.builder(mutation.row());
    for (Edit edit : mutation.edits()) {
      resolved.with(
          edit instanceof Edit.Put put && put.timestampMicros() == Edit.SERVER_TIMESTAMP
              ? new Edit.Put(put.family(), put.qualifier(), nowMicros, put.value())
              : edit);
    }
    return resolved.build();
  }
}
