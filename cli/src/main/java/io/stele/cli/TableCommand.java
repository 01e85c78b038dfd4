package io.stele.cli;

import io.stele.client.Stele;
import io.stele.client.TabletInfo;
import io.stele.model.Bytes;
import io.stele.model.Codec;
import io.stele.model.ColumnFamily;
import io.stele.model.TableSchema;
import java.io.PrintWriter;
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
    description = "Create, list, describe and drop tables.",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "(create|list|describe|drop)",
    footer = {
      "",
      "Examples:",
      "  stele table create webtable contents:versions=3 anchor language",
      "  stele table list",
      "  stele table describe webtable",
      "  stele table drop webtable --yes",
      "",
      "What next: stele put webtable com.example/ contents: '<html>hello</html>'"
    })
final class TableCommand {
  @Spec private CommandSpec spec;

  private PrintWriter out() {
    return spec.commandLine().getOut();
  }

  @Command(
      name = "create",
      description = "Create a table.",
      mixinStandardHelpOptions = true,
      footer = {
        "",
        "A family is a name, and what of it is kept, if not just the newest version of each column:",
        "  anchor                    the newest version",
        "  contents:versions=3       the 3 newest",
        "  visits:age=30d            all that are not older than 30 days (ms, s, m, h, d)",
        "  log:versions=5,age=1d     of both what either keeps off: at most 5, and none older than a day",
        "  archive:versions=all      everything",
        "",
        "Examples:",
        "  stele table create webtable contents:versions=3 anchor language",
        "  stele table create users profile --split-at g --split-at p --codec gzip",
        "",
        "What next: stele put TABLE ROW COLUMN VALUE"
      })
  int create(
      @Mixin ClusterOptions cluster,
      @Parameters(paramLabel = "TABLE", description = "Its name: letters, digits, '_', '-', '.'.")
          String name,
      @Parameters(
              paramLabel = "FAMILY",
              arity = "1..*",
              description = "A column family, see below.")
          List<String> families,
      @Option(
              names = "--codec",
              defaultValue = "SNAPPY",
              description =
                  "How SSTables are compressed: ${COMPLETION-CANDIDATES} (default: SNAPPY).")
          Codec codec,
      @Option(
              names = "--split-size",
              paramLabel = "SIZE",
              description = "Split tablets above this, such as 64m (default: 1g).")
          Optional<String> splitSize,
      @Option(
              names = "--split-at",
              paramLabel = "ROW",
              description = "Begin with a tablet from this row on; may be repeated.")
          List<String> splitRows,
      @Option(
              names = "--hsync",
              description =
                  "Acknowledge when a mutation is on disk at every replica, not only in memory.")
          boolean hsync)
      throws Exception {
    List<ColumnFamily> parsed = families.stream().map(FamilyText::parse).toList();
    TableSchema schema =
        new TableSchema(
            name,
            parsed,
            codec,
            TableSchema.BLOCK_BYTES,
            splitSize.map(FamilyText::parseSize).orElse(TableSchema.SPLIT_BYTES),
            hsync);
    List<Bytes> splits =
        splitRows == null ? List.of() : splitRows.stream().map(Bytes::parse).toList();
    try (Stele stele = Stele.connect(cluster.configuration())) {
      stele.admin().createTable(schema, splits);
    }
    out().println("Created table " + name + ".");
    return ExitCode.DONE.number();
  }

  @Command(name = "list", description = "List the tables.", mixinStandardHelpOptions = true)
  int list(@Mixin ClusterOptions cluster) throws Exception {
    try (Stele stele = Stele.connect(cluster.configuration())) {
      List<TableSchema> tables = stele.admin().listTables();
      if (tables.isEmpty()) {
        out().println("There is no table yet. Make one: stele table create NAME FAMILY...");
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
      name = "describe",
      description = "Show a table's families, its tablets and who serves them.",
      mixinStandardHelpOptions = true)
  int describe(@Mixin ClusterOptions cluster, @Parameters(paramLabel = "TABLE") String name)
      throws Exception {
    try (Stele stele = Stele.connect(cluster.configuration())) {
      TableSchema schema = stele.admin().describeTable(name);
      out().println("table " + name);
      schema.families().forEach(family -> out().println("  family " + FamilyText.format(family)));
      out()
          .println(
              "  codec "
                  + schema.codec()
                  + ", tablets split above "
                  + TextTable.size(schema.splitBytes())
                  + (schema.hsync() ? ", hsync" : ""));
      List<TabletInfo> tablets = stele.table(name).tablets();
      TextTable text = new TextTable("TABLET", "SERVER", "SIZE", "SSTABLES", "ROWS");
      for (TabletInfo tablet : tablets) {
        text.line(
            tablet.id(),
            tablet.server().map(server -> server.host() + ":" + server.port()).orElse("(none)"),
            TextTable.size(tablet.bytes()),
            tablet.sstables(),
            tablet.rows());
      }
      text.lines("").forEach(out()::println);
    }
    return ExitCode.DONE.number();
  }

  @Command(
      name = "drop",
      description = "Drop a table and all it holds.",
      mixinStandardHelpOptions = true,
      footer = {
        "",
        "There is no way back: it wants --yes.",
        "",
        "Example:",
        "  stele table drop webtable --yes"
      })
  int drop(
      @Mixin ClusterOptions cluster,
      @Parameters(paramLabel = "TABLE") String name,
      @Option(names = "--yes", description = "Yes, drop it with all its data.") boolean sure)
      throws Exception {
    if (!sure) {
      throw new ParameterException(
          spec.commandLine().getSubcommands().get("drop"),
          "dropping table " + name + " deletes all it holds: say --yes if you mean it");
    }
    try (Stele stele = Stele.connect(cluster.configuration())) {
      stele.admin().dropTable(name);
    }
    out().println("Dropped table " + name + ".");
    return ExitCode.DONE.number();
  }
}
