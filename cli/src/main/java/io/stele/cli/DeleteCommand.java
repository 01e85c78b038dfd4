package io.stele.cli;

import io.stele.client.Stele;
import io.stele.model.Bytes;
import io.stele.model.Column;
import io.stele.model.Mutation;
import io.stele.model.TimeRange;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code stele delete}: deletes a row, or columns of it. */
@Command(
    name = "delete",
    description = "Delete a row, or columns of a row, atomically.",
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "Deletes all versions, including those with a timestamp in the future. To",
      "delete many rows, use `stele table delete-rows`.",
      "",
      "Examples:",
      "  stele delete webtable com.example/",
      "  stele delete webtable com.example/ contents: anchor",
      "  stele delete webtable -- -row",
      "",
      "Next: stele get webtable com.example/"
    })
final class DeleteCommand implements Callable<Integer> {
  @Mixin private ClusterOptions cluster;

  @Parameters(index = "0", paramLabel = "TABLE")
  private String table;

  @Parameters(index = "1", paramLabel = "ROW")
  private Bytes row;

  @Parameters(
      index = "2..*",
      arity = "0..*",
      paramLabel = "COLUMN",
      converter = OptionValue.ColumnText.class,
      description =
          "Only these columns (FAMILY:QUALIFIER) or families (FAMILY) of the row (default: all of it).")
  private List<String> columns = List.of();

  @Override
  public Integer call() throws Exception {
    Mutation mutation = Mutation.of(row);
    for (String text : columns) {
      Column column = Column.parse(text);
      mutation =
          text.indexOf(':') < 0
              ? mutation.deleteFamily(text)
              : mutation.deleteColumn(column.family(), column.qualifier(), TimeRange.ALL);
    }
    try (Stele stele = cluster.connect()) {
      stele.table(table).mutate(columns.isEmpty() ? mutation.deleteRow() : mutation);
    }
    return ExitCode.DONE.number();
  }
}
