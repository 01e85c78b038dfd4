package io.stele.cli;

import io.stele.client.ClusterStatus;
import io.stele.client.Stele;
import io.stele.client.TableChange;
import io.stele.model.RowRange;
import io.stele.model.TableSchema;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code stele table}: tables and their families. */
@Command(
    name = "table",
    description =
        "Create, list, describe, alter, compact, truncate and drop tables; delete ranges of rows;"
            + " show changes in progress.",
    mixinStandardHelpOptions = true,
    subcommands = {TableCreateCommand.class, TableDescribeCommand.class, TableAlterCommand.class},
    synopsisSubcommandLabel =
        "(create|list|describe|alter|compact|delete-rows|truncate|drop|changes|change)",
    footer = {
      "",
      "Examples:",
      "  stele table create webtable contents:versions=3 anchor language",
      "  stele table list",
      "  stele table describe webtable",
      "  stele table alter webtable contents:versions=5",
      "  stele table compact webtable",
      "  stele table drop webtable --yes",
      "",
      "Next: stele put webtable com.example/ contents: '<html>hello</html>'"
    })
final class TableCommand {
  @Spec private CommandSpec spec;

  private PrintWriter out() {
    return spec.commandLine().getOut();
  }

  /** What cannot be undone must be confirmed. */
  private void requireYes(boolean sure, String command, String what) {
    if (!sure) {
      throw new ParameterException(
          spec.commandLine().getSubcommands().get(command), what + ": add --yes to confirm");
    }
  }

  @Command(name = "list", description = "List the tables.", mixinStandardHelpOptions = true)
  int list(@Mixin ClusterOptions cluster) throws Exception {
    try (Stele stele = cluster.connect()) {
      List<TableSchema> tables = stele.admin().listTables();
      if (tables.isEmpty()) {
        out().println("There are no tables. Create one: stele table create NAME FAMILY...");
      } else {
        TextTable text = new TextTable("TABLE", "FAMILIES");
        tables.forEach(
            table ->
                text.line(
                    table.name(),
                    String.join(" ", table.families().stream().map(FamilyText::format).toList())));
        text.lines("").forEach(out()::println);
      }
    }
    return ExitCode.DONE.number();
  }

  @Command(
      name = "compact",
      description =
          "Rewrite all SSTables of a table, without deleted and expired cells and with its current locality groups.",
      mixinStandardHelpOptions = true,
      footer = {
        "",
        "Compactions run by themselves. Use this after altering a table, or to free",
        "space at once. All servers compact at the same time, each one tablet at a",
        "time; the progress is shown every ten seconds. They continue if you stop the",
        "command. It can be run again meanwhile, and for other tables. Tablets that",
        "move or split are compacted where they are then, except with --no-wait.",
        "",
        "Example:",
        "  stele table compact webtable"
      })
  int compact(
      @Mixin ClusterOptions cluster,
      @Parameters(paramLabel = "TABLE") String name,
      @Mixin WaitOptions wait)
      throws Exception {
    try (Stele stele = cluster.connect()) {
      wait.finishShowing(
          stele.admin().beginCompactTable(name), "Compacted table " + name + ".", out());
    }
    return ExitCode.DONE.number();
  }

  @Command(
      name = "truncate",
      description = "Delete all rows of a table, and keep the table.",
      mixinStandardHelpOptions = true,
      footer = {
        "",
        "This cannot be undone, so --yes is required. The cost depends on the number of",
        "tablets, not of rows.",
        "",
        "Example:",
        "  stele table truncate webtable --yes"
      })
  int truncate(
      @Mixin ClusterOptions cluster,
      @Parameters(paramLabel = "TABLE") String name,
      @Option(names = "--yes", description = "Confirm the deletion of all rows.") boolean sure,
      @Mixin ChangeOptions change)
      throws Exception {
    requireYes(sure, "truncate", "truncating table " + name + " deletes all its data");
    try (Stele stele = cluster.connect()) {
      change.finish(stele.admin().beginTruncateTable(name), "Truncated table " + name + ".", out());
    }
    return ExitCode.DONE.number();
  }

  @Command(
      name = "delete-rows",
      description = "Delete all rows of a table in a range.",
      mixinStandardHelpOptions = true,
      footer = {
        "",
        "This cannot be undone, so --yes is required. The cost depends on the number of",
        "tablets in the range, not of rows. A range is required: to delete all rows,",
        "use `stele table truncate`; to delete one row, or columns of it, `stele",
        "delete`.",
        "",
        "Examples:",
        "  stele table delete-rows webtable --from com.a --to com.b --yes",
        "  stele table delete-rows webtable --prefix com.example --yes"
      })
  int deleteRows(
      @Mixin ClusterOptions cluster,
      @Mixin RangeOptions range,
      @Parameters(paramLabel = "TABLE") String name,
      @Option(names = "--yes", description = "Confirm the deletion of the rows.") boolean sure,
      @Mixin ChangeOptions change)
      throws Exception {
    RowRange rows = range.of(spec.commandLine());
    if (rows.equals(RowRange.ALL)) {
      throw new ParameterException(
          spec.commandLine().getSubcommands().get("delete-rows"),
          "give --prefix, --from or --to; `stele table truncate` deletes all rows");
    }
    requireYes(sure, "delete-rows", "this deletes rows " + rows + " of table " + name);
    try (Stele stele = cluster.connect()) {
      change.finish(
          stele.admin().beginDeleteRows(name, rows),
          "Deleted rows " + rows + " of table " + name + ".",
          out());
    }
    return ExitCode.DONE.number();
  }

  @Command(
      name = "drop",
      description = "Drop a table and all its data.",
      mixinStandardHelpOptions = true,
      footer = {
        "",
        "This cannot be undone, so --yes is required.",
        "",
        "Example:",
        "  stele table drop webtable --yes"
      })
  int drop(
      @Mixin ClusterOptions cluster,
      @Parameters(paramLabel = "TABLE") String name,
      @Option(names = "--yes", description = "Confirm the deletion of the table and its data.")
          boolean sure,
      @Mixin ChangeOptions change)
      throws Exception {
    requireYes(sure, "drop", "dropping table " + name + " deletes all its data");
    try (Stele stele = cluster.connect()) {
      change.finish(stele.admin().beginDropTable(name), "Dropped table " + name + ".", out());
    }
    return ExitCode.DONE.number();
  }

  @Command(
      name = "changes",
      description = "List the table changes in progress.",
      mixinStandardHelpOptions = true)
  int changes(@Mixin ClusterOptions cluster) throws Exception {
    try (Stele stele = cluster.connect()) {
      List<ClusterStatus.Change> changes = stele.admin().clusterStatus().changes();
      if (changes.isEmpty()) {
        out().println("No table is being changed.");
      } else {
        TextTable text = new TextTable("CHANGE", "TABLE", "IS BEING", "SINCE", "PROGRESS");
        changes.forEach(
            one -> text.line(one.id(), one.table(), one.action(), one.begun(), one.progress()));
        text.lines("").forEach(out()::println);
      }
    }
    return ExitCode.DONE.number();
  }

  @Command(
      name = "change",
      description = "Show the progress of a table change, or wait until it is made.",
      mixinStandardHelpOptions = true,
      footer = {
        "",
        "The last 16 changes of each table are kept. If the change cannot be made, the",
        "command says why and fails.",
        "",
        "Example:",
        "  stele table change webtable/drop-00112233445566778899aabbccddeeff --wait 10m"
      })
  int change(
      @Mixin ClusterOptions cluster,
      @Parameters(
              paramLabel = "ID",
              converter = OptionValue.ChangeId.class,
              description =
                  "The change's id, as --no-wait printed it or as `stele table changes` shows it.")
          String id,
      @Option(
              names = "--wait",
              paramLabel = "TIME",
              description = "Wait until the change is made, at most this long, such as 90s or 10m.")
          Optional<Duration> wait)
      throws Exception {
    try (Stele stele = cluster.connect()) {
      TableChange change = stele.admin().tableChange(id);
      if (wait.isPresent()) {
        change.await(wait.get());
      }
      out().println(change.progress());
    }
    return ExitCode.DONE.number();
  }
}
