package io.stele.cli;

import io.stele.model.Column;
import io.stele.model.RowQuery;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Option;

/** Which columns to read. */
final class ColumnOptions {
  @Option(
      names = {"-c", "--column"},
      paramLabel = "COLUMN",
      converter = OptionValue.ColumnText.class,
      description = "Only this column (FAMILY:QUALIFIER) or family (FAMILY); may be repeated.")
  private List<String> columns = List.of();

  /** The columns as they were written; empty if none was. */
  Optional<String> text() {
    return columns.isEmpty() ? Optional.empty() : Optional.of(String.join(", ", columns));
  }

  /** The query, of these columns only. */
  RowQuery restrict(RowQuery query) {
    RowQuery restricted = query;
    List<Column> single = new ArrayList<>(query.columns());
    for (String text : columns) {
      if (text.indexOf(':') < 0) {
        restricted = restricted.family(text);
      } else {
        single.add(Column.parse(text));
      }
    }
    return new RowQuery(
        restricted.ranges(),
        restricted.families(),
        single,
        restricted.versions(),
        restricted.times(),
        restricted.rowLimit(),
        restricted.filter());
  }
}
