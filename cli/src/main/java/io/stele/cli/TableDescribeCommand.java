package io.stele.cli;

import io.stele.client.Stele;
import io.stele.client.TabletInfo;
import io.stele.config.SizeText;
import io.stele.model.Bytes;
import io.stele.model.ServerId;
import io.stele.model.TableSchema;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
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

/** {@code stele table describe}. */
@Command(
    name = "describe",
    description = "Show a table's families, its tablets and the servers that have them.",
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "A family is shown as `stele table create` takes it: versions=3,age=30d keeps",
      "what is within both limits. Only programs can give a family two limits of",
      "which one is enough: (versions=3 or age=30d) keeps the 3 newest versions, and",
      "all that are not older than 30 days.",
      "",
      "Examples:",
      "  stele table describe webtable",
      "  stele table describe webtable --as-command --splits-to rows.txt"
    })
final class TableDescribeCommand implements Callable<Integer> {
  @Mixin private ClusterOptions cluster;

  @Parameters(paramLabel = "TABLE")
  private String name;

  @Option(
      names = "--as-command",
      description = "Print the `stele table create` command for a table like this one.")
  private boolean asCommand;

  @Option(
      names = "--splits-to",
      paramLabel = "FILE",
      description =
          "With --as-command: write the first rows of the tablets to this file, which the"
              + " command then names.")
  private Optional<Path> splitsTo = Optional.empty();

  @Spec private CommandSpec spec;

  @Override
  public Integer call() throws Exception {
    if (splitsTo.isPresent() && !asCommand) {
      throw new ParameterException(spec.commandLine(), "--splits-to needs --as-command");
    }
    try (Stele stele = cluster.connect()) {
      TableSchema schema = stele.admin().describeTable(name);
      if (asCommand) {
        printCommand(schema, SplitOptions.rows(stele, name), splitsTo);
        return ExitCode.DONE.number();
      }
      out().println("table " + name);
      schema.families().forEach(family -> out().println("  family " + FamilyText.format(family)));
      schema.groups().forEach(group -> out().println("  group " + GroupText.format(group)));
      out()
          .println(
              "  tablets split above "
                  + SizeText.of(schema.splitBytes())
                  + (schema.hsync() ? ", hsync" : ""));
      schema.readers().forEach(reader -> out().println("  reader " + reader));
      List<TabletInfo> tablets = stele.table(name).tablets();
      TextTable text = new TextTable("TABLET", "SERVER", "SIZE", "SSTABLES", "FIRST ROW");
      for (TabletInfo tablet : tablets) {
        text.line(
            tablet.id(),
            tablet.server().map(ServerId::hostAndPort).orElse("(none)"),
            TextTable.size(tablet.bytes()),
            tablet.sstables(),
            TextTable.firstRow(tablet.rows().start()));
      }
      text.lines("").forEach(out()::println);
    }
    return ExitCode.DONE.number();
  }

  private PrintWriter out() {
    return spec.commandLine().getOut();
  }

  private void printCommand(TableSchema schema, List<Bytes> splitRows, Optional<Path> splitsTo)
      throws Exception {
    List<String> words = new ArrayList<>(CreateText.words(schema));
    if (splitsTo.isPresent()) {
      SplitOptions.write(splitsTo.get(), splitRows);
      words.addAll(List.of("--splits-file", splitsTo.get().toString()));
    } else {
      words.addAll(CreateText.splits(splitRows));
    }
    out().println(CreateText.line(words));
  }
}
