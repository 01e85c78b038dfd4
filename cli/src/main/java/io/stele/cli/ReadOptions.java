package io.stele.cli;

import io.stele.client.Stele;
import io.stele.client.Table;
import io.stele.model.Bytes;
import io.stele.model.Cell;
import io.stele.model.Column;
import io.stele.model.Filter;
import io.stele.model.Row;
import io.stele.model.RowQuery;
import java.io.IOException;
import java.io.PrintWriter;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** Which part of a row to read, and how to show it: shared by {@code get} and {@code scan}. */
final class ReadOptions {
  private static final int WIDTH_ON_TERMINAL = 160;

  /** A row is in memory with the parts it came in, and as the text that is shown. */
  private static final int MEMORY_OF_ROW = 4;

  @Mixin private ColumnOptions columns;

  @Option(
      names = "--versions",
      paramLabel = "N|all",
      defaultValue = "1",
      converter = OptionValue.Versions.class,
      description =
          "Show at most this many versions of each column, newest first, or all (default: 1).")
  private int versions;

  @Mixin private TimeOptions times;

  @Option(
      names = "--filter",
      paramLabel = "FILTER",
      description =
          "Of the cells that the other options let through, only those that pass this filter, such as"
              + " \"value_regex('.*error.*')\"; docs/tables.md describes filters.")
  private Optional<Filter> filter = Optional.empty();

  @Option(
      names = "--full",
      description = "Show whole values. Without this option, long values are cut on a terminal.")
  private boolean full;

  @Option(
      names = "--numbers",
      paramLabel = "COLUMN",
      converter = OptionValue.ColumnText.class,
      description =
          "Show values of 8 bytes in this column (FAMILY:QUALIFIER) or family (FAMILY) as numbers, such"
              + " as those of counters; may be repeated.")
  private List<String> numbers = List.of();

  /**
   * The part of {@code query} that is asked for.
   *
   * @throws ParameterException if the options contradict each other
   */
  RowQuery restrict(RowQuery query, CommandLine command) {
    RowQuery part = columns.restrict(query.versions(versions).times(times.of(command)));
    return filter.map(part::filter).orElse(part);
  }

  /** A table whose rows fit into the memory of this process; larger ones are refused. */
  static Table table(Stele stele, String name) throws IOException {
    long most = Math.min(Table.ROW_BYTES_MAX, Runtime.getRuntime().maxMemory() / MEMORY_OF_ROW);
    return stele.table(name).withRowBytesMax(most);
  }

  /** The columns that are asked for, as they were written, unless all are. */
  Optional<String> columns() {
    return columns.text();
  }

  /** One line a cell: row, column, time, value, separated by tabs. */
  void print(Row row, PrintWriter out) {
    for (Cell cell : row.cells()) {
      out.print(row.key() + "\t" + cell.family() + ":" + cell.qualifier() + "\t");
      out.print(time(cell.timestampMicros()) + "\t");
      out.println(shown(cell)); // May be large: not copied once more.
    }
  }

  @SuppressWarnings("SystemConsoleNull") // As it was before Java 22: bin/stele says so.
  private String shown(Cell cell) {
    Bytes value = cell.value();
    if (value.length() == Long.BYTES && numbers.stream().anyMatch(text -> isIn(cell, text))) {
      return Long.toString(value.toLong());
    }
    Optional<Integer> width =
        full || System.console() == null ? Optional.empty() : Optional.of(WIDTH_ON_TERMINAL);
    if (width.isPresent() && value.length() > width.get()) {
      return value.slice(0, width.get()) + "... (" + value.length() + " bytes)";
    }
    return value.toString();
  }

  /** Whether a cell is in a column or family. */
  private static boolean isIn(Cell cell, String text) {
    if (text.indexOf(':') < 0) {
      return cell.family().equals(text);
    }
    Column column = Column.parse(text);
    return cell.family().equals(column.family()) && cell.qualifier().equals(column.qualifier());
  }

  /** Micros as a time where they can be one, else as the number. */
  private static String time(long micros) {
    Instant time = Instant.ofEpochSecond(micros / 1_000_000, micros % 1_000_000 * 1_000);
    return micros > 1_000_000_000_000L && time.isBefore(Instant.parse("9999-12-31T00:00:00Z"))
        ? time.toString()
        : Long.toString(micros);
  }
}
