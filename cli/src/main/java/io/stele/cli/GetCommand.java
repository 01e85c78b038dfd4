package io.stele.cli;

import io.stele.client.Stele;
import io.stele.model.Bytes;
import io.stele.model.Row;
import io.stele.model.RowQuery;
import io.stele.model.SteleException;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code stele get}: reads a row. */
@Command(
    name = "get",
    description = "Read a row.",
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "Each line has row, column, time and value, separated by tabs. Bytes that are",
      "not text are shown as \\xNN. Exits with 3 if there is no such row, or if none",
      "of its cells is asked for.",
      "",
      "Examples:",
      "  stele get webtable com.example/",
      "  stele get webtable com.example/ -c contents: --raw > page.html",
      "  stele get webtable com.example/ -c anchor --versions 3",
      "  stele get webtable com.example/ --versions all --since 2026-01-31T00:00:00Z",
      "  stele get webtable com.example/ --numbers stats     show counters as numbers",
      "  stele get webtable -- -row              a row that begins with '-'",
      "",
      "Next: stele scan webtable --prefix com.example"
    })
final class GetCommand implements Callable<Integer> {
  @Mixin private ClusterOptions cluster;
  @Mixin private ReadOptions read;
  @Spec private CommandSpec spec;

  @Parameters(index = "0", paramLabel = "TABLE")
  private String table;

  @Parameters(index = "1", paramLabel = "ROW")
  private Bytes row;

  @Option(names = "--raw", description = "Write only the value of the first cell, as raw bytes.")
  private boolean raw;

  @Override
  public Integer call() throws Exception {
    RowQuery query = read.restrict(RowQuery.ALL, spec.commandLine());
    try (Stele stele = cluster.connect()) {
      Optional<Row> found = ReadOptions.table(stele, table).readRow(row, query);
      if (found.isEmpty()) {
        throw SteleException.notFound(
            read.columns()
                .map(
                    columns ->
                        "row \"" + row + "\" of table " + table + " has no cell in " + columns)
                .orElse("table " + table + " has no row \"" + row + "\""));
      }
      if (raw) {
        found.get().cells().get(0).value().writeTo(StandardOutput.ofProcess());
      } else {
        read.print(found.get(), spec.commandLine().getOut());
      }
    }
    return ExitCode.DONE.number();
  }
}
