package io.stele.cli;

import io.stele.client.Stele;
import io.stele.model.Bytes;
import io.stele.model.Column;
import io.stele.model.Limits;
import io.stele.model.Mutation;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;
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
      "A column is FAMILY:QUALIFIER, or FAMILY: for the empty qualifier. In rows,",
      "qualifiers and values, write \\xNN for a byte and \\\\ for a backslash. One value",
      "may be -, for the bytes of standard input; write \\x2d for the value '-'",
      "itself.",
      "",
      "Examples:",
      "  stele put webtable com.example/ contents: '<html>hello</html>' language: en",
      "  stele put webtable com.example/ contents: - < page.html",
      "  stele put webtable -- -row language: en     a row that begins with '-'",
      "  stele put webtable com.example/ language: en \\",
      "    --timestamp 2026-01-31T12:00:00Z",
      "",
      "Next: stele get webtable com.example/; `stele delete` deletes a row, or",
      "columns of it; `stele increment` counts"
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
      paramLabel = "TIME",
      converter = OptionValue.Timestamp.class,
      description =
          "A time such as 2026-01-31T12:00:00Z, or microseconds since 1970 (default: the server's time).")
  private Optional<Long> timestamp = Optional.empty();

  @Override
  public Integer call() throws Exception {
    if (cells.size() % 2 != 0) {
      throw new ParameterException(
          spec.commandLine(),
          "column " + cells.get(cells.size() - 1) + " has no value: write one after it");
    }
    requireOneStandardInput();
    Mutation mutation = Mutation.of(row);
    for (int i = 0; i < cells.size(); i += 2) {
      Column column = OptionValue.of(cells.get(i), new OptionValue.CellColumn()::convert, spec);
      Bytes value =
          cells.get(i + 1).equals(STANDARD_INPUT)
              ? standardInput()
              : OptionValue.of(cells.get(i + 1), Bytes::parse, spec);
      mutation =
          timestamp.isPresent()
              ? mutation.put(column.family(), column.qualifier(), timestamp.get(), value)
              : mutation.put(column.family(), column.qualifier(), value);
    }
    try (Stele stele = cluster.connect()) {
      stele.table(table).mutate(mutation);
    }
    return ExitCode.DONE.number();
  }

  /** The first value that is read from standard input leaves nothing for another. */
  private void requireOneStandardInput() {
    long values =
        IntStream.range(0, cells.size())
            .filter(i -> i % 2 == 1 && cells.get(i).equals(STANDARD_INPUT))
            .count();
    if (values > 1) {
      throw new ParameterException(
          spec.commandLine(),
          "only one value can be -, which stands for standard input; write \\x2d for the value '-' itself");
    }
  }

  /** All of it, unless it is more than a mutation may have. */
  private Bytes standardInput() throws IOException {
    Bytes value = Bytes.wrap(System.in.readNBytes((int) Limits.MUTATION_BYTES_MAX + 1));
    Limits.checkMutationBytes(row, value.length());
    return value;
  }
}
