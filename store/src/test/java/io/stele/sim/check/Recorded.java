package io.stele.sim.check;

import io.stele.model.Bytes;
import io.stele.model.Cell;
import io.stele.model.Row;
import io.stele.model.SteleException;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** A history written down by a test; a millisecond goes by with each beginning and end. */
final class Recorded {
  static final Result DONE = new Result.Done();

  private final History history = new History();
  private long nanos;

  List<Call> calls() {
    return history.calls();
  }

  int begin(int client, Action action) {
    return history.begin(client, action, nanos += 1_000_000);
  }

  Recorded end(int call, Result result) {
    return end(call, new CallOutcome.Answered(result));
  }

  Recorded end(int call, CallOutcome outcome) {
    history.end(call, outcome, nanos += 1_000_000);
    return this;
  }

  Recorded call(Action action, Result result) {
    return end(begin(0, action), result);
  }

  Recorded readBack(Action action, Result result) {
    return end(begin(History.READ_BACK, action), result);
  }

  Recorded unknown(Action action) {
    return end(begin(0, action), new CallOutcome.Unknown("lost"));
  }

  Recorded rejected(Action action) {
    return end(begin(0, action), rejection(SteleException.Code.RETRY_LATER));
  }

  static CallOutcome rejection(SteleException.Code code) {
    return new CallOutcome.Rejected(code, "no");
  }

  static Action write(String row, String value) {
    return new Action.Write(Bytes.of(row), Bytes.of(value));
  }

  static Action delete(String row) {
    return new Action.Delete(Bytes.of(row));
  }

  static Action read(String row) {
    return new Action.Read(Bytes.of(row));
  }

  /** {@code expected} is empty for no value. */
  static Action set(String row, String expected, String value) {
    return new Action.CompareAndSet(
        Bytes.of(row), Optional.of(Bytes.of(expected)).filter(b -> !b.isEmpty()), Bytes.of(value));
  }

  /** A row with {@code value} in its one column, f:q. */
  static Row row(String key, String value) {
    return new Row(Bytes.of(key), List.of(cell("f", "q", value)));
  }

  static Cell cell(String family, String qualifier, String value) {
    return new Cell(family, Bytes.of(qualifier), 1, Bytes.of(value));
  }

  static Result rows(Row... rows) {
    return Result.Rows.all(Stream.of(rows).toList());
  }
}
