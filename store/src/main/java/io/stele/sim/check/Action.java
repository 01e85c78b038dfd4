package io.stele.sim.check;

import io.stele.model.Bytes;
import io.stele.model.RowRange;
import java.util.Optional;

/**
 * What a client asked for, as far as checkers need to know. A workload gives each of its rows one
 * value, in whatever columns it keeps it.
 */
public sealed interface Action {
  /** Adds {@code amount}, above zero, to the counter in {@code row}; answered by its new value. */
  record Increment(Bytes row, long amount) implements Action {}

  /** Reads the counter in {@code row}; answered by its value, 0 if there is none. */
  record ReadCounter(Bytes row) implements Action {}

  /**
   * Gives {@code row} a value, whatever it had; or is answered by that it was not {@link
   * Result.Matched}, and changes nothing.
   */
  record Write(Bytes row, Bytes value) implements Action {}

  /** Deletes {@code row}. */
  record Delete(Bytes row) implements Action {}

  /** Deletes {@code row} if it is there; answered by whether it was. */
  record Remove(Bytes row) implements Action {}

  /**
   * Gives {@code row} a value if it has {@code expected}, which is empty for no value at all;
   * answered by whether it had.
   */
  record CompareAndSet(Bytes row, Optional<Bytes> expected, Bytes value) implements Action {}

  /** Reads {@code row}; answered by it, or by no row where there is none. */
  record Read(Bytes row) implements Action {}

  /**
   * Reads at most {@code limit} rows of {@code range}; {@link Long#MAX_VALUE} is no limit. Answered
   * by the rows.
   */
  record Scan(RowRange range, long limit) implements Action {}

  /** Deletes all rows of {@code range}, each at some moment; or is answered as a write may be. */
  record Clear(RowRange range) implements Action {}

  /** Anything else; no checker but that of deadlines and failures looks at it. */
  record Other(String text) implements Action {}
}
