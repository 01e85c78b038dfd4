package io.stele.cli;

import io.stele.model.Bytes;
import io.stele.model.Cell;
import io.stele.model.Row;
import io.stele.model.RowQuery;
import java.io.PrintWriter;
import java.time.Instant;
import java.util.Optional;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Which part of a row to read, and how to show it: shared by {@code get} and {@code scan}. */
final class ReadOptions {
  private static final int WIDTH_ON_TERMINAL = 160;

  @Mixin private ColumnOptions columns;

  @Option(
      names = "--versions",
      paramLabel = "N",
      defaultValue = "1",
      converter = OptionValue.Count.class,
      description = "Show at most this many versions of each column, newest first (default: 1).")
  private int versions;

  @Option(
      names = "--full",
      description = "Show whole values. Without this option, long values are cut on a terminal.")
  private boolean full;

  RowQuery restrict(RowQuery query) {
    return columns.restrict(query.versions(versions));
  }

  /** The columns that are asked for, as they were written, unless all are. */
  Optional<String> columns() {
    return columns.text();
  }

  /** One line a cell: row, column, time, value, separated by tabs. */
  void print(Row row, PrintWriter out) {
    for (Cell cell : row.cells()) {
      out.println(
          row.key()
              + "\t"
              + cell.family()
              + ":"
              + cell.qualifier()
              + "\t"
              + time(cell.timestampMicros())
              + "\t"
              + shown(cell.value()));
    }
  }

  @SuppressWarnings("SystemConsoleNull") // As it was before Java 22: bin/stele says so.
  private String shown(Bytes value) {
    Optional<Integer> width =
        full || System.console() == null ? Optional.empty() : Optional.of(WIDTH_ON_TERMINAL);
    if (width.isPresent() && value.length() > width.get()) {
      return value.slice(0, width.get()) + "... (" + value.length() + " bytes)";
    }
    return value.toString();
  }

  /** Micros as a time where they can be one, else as the number. */
  private static String time(long micros) {
    Instant time = Instant.ofEpochSecond(micros / 1_000_000, micros % 1_000_000 * 1_000);
    return micros > 1_000_000_000_000L && time.isBefore(Instant.parse("9999-12-31T00:00:00Z"))
        ? time.toString()
        : Long.toString(micros);
  }
}
