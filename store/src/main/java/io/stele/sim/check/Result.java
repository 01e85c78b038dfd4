package io.stele.sim.check;

import io.stele.model.Row;
import io.stele.model.SteleException;
import java.util.List;
import java.util.Optional;

/** What a call returned. */
public sealed interface Result {
  /** Nothing but that it was done. */
  record Done() implements Result {}

  /** The value of a counter. */
  record Number(long value) implements Result {}

  /** Whether the row had what was expected, and so was changed. */
  record Matched(boolean matched) implements Result {}

  /**
   * Rows, in the order in which they came.
   *
   * @param rows the rows
   * @param cutShort why the scan ended before its end; empty if it did not
   */
  record Rows(List<Row> rows, Optional<SteleException.Code> cutShort) implements Result {
    public Rows {
      rows = List.copyOf(rows);
    }

    /** All the rows there are. */
    public static Rows all(List<Row> rows) {
      return new Rows(rows, Optional.empty());
    }

    @Override
    public String toString() {
      return (rows.size() > 4
              ? rows.size() + " rows from " + rows.get(0) + " to " + rows.get(rows.size() - 1)
              : rows.toString())
          + cutShort.map(code -> " and then " + code).orElse("");
    }
  }
}
