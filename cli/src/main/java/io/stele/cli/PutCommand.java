package io.stele.cli;

import io.stele.client.Stele;
import io.stele.model.Bytes;
import io.stele.model.Column;
import io.stele.model.Mutation;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code stele put}: writes cells of one row, together. */
@Command(
    name = "put",
    description = "Write cells of one row, atomically.",
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "A column is FAMILY:QUALIFIER; the qualifier may be empty. In rows, qualifiers and values, write \\xNN for a byte and",
      "\\\\ for a backslash. The value - stands for the bytes of standard input.",
      "To delete a row, use `stele table delete-rows`. No command deletes a single cell: programs do, with Mutation.deleteColumn.",
      "",
      "Examples:",
      "  stele put webtable com.example/ contents: '<html>hello</html>' language: en",
      "  stele put webtable com.example/ contents: - < page.html",
      "",
      "Next: stele get webtable com.example/"
    })
final class PutCommand implements Callable<Integer> {
  private static final String STANDARD_INPUT = "-";

  @Mixin private ClusterOptions cluster;
  @Spec private CommandSpec spec;

  @Parameters(index = "0", paramLabel = "TABLE")
  private String table;

  @Parameters(index = "1", paramLabel = "ROW")
  private Bytes row;

  @Parameters(
      index = "2..*",
      arity = "2..*",
      paramLabel = "COLUMN VALUE [COLUMN VALUE]...",
      hideParamSyntax = true,
      description = "One or more columns, each followed by its value.")
  private List<String> cells;

  @Option(
      names = "--timestamp",
      paramLabel = "MICROS",
      description = "Microseconds since 1970 (default: the server's time).")
  private Optional<Long> timestamp = Optional.empty();

  @Override
  public Integer call() throws Exception {
    if (cells.size() % 2 != 0) {
      throw new ParameterException(
          spec.commandLine(),
          "column " + cells.get(cells.size() - 1) + " has no value: write one after it");
    }
    Mutation mutation = Mutation.of(row);
    for (int i = 0; i < cells.size(); i += 2) {
      Column column = OptionValue.of(cells.get(i), Column::parse, spec);
      Bytes value =
          cells.get(i + 1).equals(STANDARD_INPUT)
              ? Bytes.wrap(System.in.readAllBytes())
              : OptionValue.of(cells.get(i + 1), Bytes::parse, spec);
      mutation =
          timestamp.isPresent()
              ? mutation.put(column.family(), column.qualifier(), timestamp.get(), value)
              : mutation.put(column.family(), column.qualifier(), value);
    }
    try (Stele stele = Stele.connect(cluster.configuration())) {
      stele.table(table).mutate(mutation);
    }
    return ExitCode.DONE.number();
  }
}
