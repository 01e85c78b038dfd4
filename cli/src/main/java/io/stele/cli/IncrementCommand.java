package io.stele.cli;

import io.stele.client.Stele;
import io.stele.model.Bytes;
import io.stele.model.Column;
import io.stele.model.ReadModifyWrite;
import io.stele.model.Row;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code stele increment}: adds to a counter, and shows what it is then. */
@Command(
    name = "increment",
    description = "Add to a counter, atomically, and show its new value.",
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "A counter is a cell with a big-endian number of 8 bytes. One that is missing",
      "starts at 0. A run counts once, even if its request is sent again. A run that",
      "exits with 6 may or may not have counted: look before you repeat it. Adding 0",
      "shows the number, and creates the counter if it is missing.",
      "",
      "Examples, of a table made by `stele table create webtable stats`:",
      "  stele increment webtable com.example/ stats:visits",
      "  stele increment webtable com.example/ stats:visits 10",
      "  stele increment webtable com.example/ stats:visits -1",
      "",
      "Next: stele get webtable com.example/ --numbers stats"
    })
final class IncrementCommand implements Callable<Integer> {
  @Mixin private ClusterOptions cluster;
  @Spec private CommandSpec spec;

  @Parameters(index = "0", paramLabel = "TABLE")
  private String table;

  @Parameters(index = "1", paramLabel = "ROW")
  private Bytes row;

  @Parameters(
      index = "2",
      paramLabel = "COLUMN",
      converter = OptionValue.CellColumn.class,
      description = "The counter's column: FAMILY:QUALIFIER.")
  private Column column;

  @Parameters(
      index = "3",
      arity = "0..1",
      paramLabel = "AMOUNT",
      defaultValue = "1",
      description = "What to add; a negative number subtracts (default: ${DEFAULT-VALUE}).")
  private long amount;

  @Override
  public Integer call() throws Exception {
    ReadModifyWrite increment =
        ReadModifyWrite.increment(row, column.family(), column.qualifier(), amount);
    try (Stele stele = cluster.connect()) {
      Row counted = stele.table(table).readModifyWrite(increment);
      spec.commandLine().getOut().println(counted.cells().get(0).value().toLong());
    }
    return ExitCode.DONE.number();
  }
}
