package io.stele.cli;

import io.stele.client.ClusterStatus;
import io.stele.client.Stele;
import io.stele.client.TableChange;
import io.stele.client.TabletInfo;
import io.stele.config.SizeText;
import io.stele.model.Bytes;
import io.stele.model.Codec;
import io.stele.model.ColumnFamily;
import io.stele.model.LocalityGroup;
import io.stele.model.Principal;
import io.stele.model.RowRange;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.model.TableSchema;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Stream;
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

  @Command(
      name = "create",
      description = "Create a table.",
      mixinStandardHelpOptions = true,
      footer = {
        "",
        "A family is a name and a policy that says which versions to keep. The default",
        "is the newest version of each column:",
        "  anchor                    the newest version",
        "  contents:versions=3       the 3 newest",
        "  visits:age=30d            all not older than 30 days (ms, s, m, h, d)",
        "  log:versions=5,age=1d     at most 5, and none older than a day",
        "  archive:versions=all      everything",
        "  contents:group=pages      the newest, in the locality group pages",
        "",
        "A locality group is a name and how its SSTables are stored:",
        "  pages:codec=zstd-high,block=256k,cache=low",
        "      small, in large blocks, not kept in the block cache",
        "  ranks:bloom=row-column,cache=high",
        "      columns that a row does not have are not looked for on disk",
        "  flags:memory",
        "      loaded when first read, and kept in memory",
        "",
        "A codec:",
        "  none        for what is compressed already, such as images",
        "  snappy      the quickest to write; saves the least",
        "  lz4         as quick to read, and saves more where blocks are large",
        "  gzip        only where other programs must read the files: zstd is better",
        "              in every way",
        "  zstd        saves more than gzip in half the time: for most tables",
        "  zstd-high   saves a quarter more. Writing takes three times as long, reading",
        "              no longer. For large amounts of similar data, such as web pages,",
        "              in blocks of 256k and more",
        "",
        "Examples:",
        "  stele table create webtable contents:versions=3 anchor language",
        "  stele table create users profile --split-at g --split-at p --codec zstd",
        "  stele table create pages contents:group=large rank \\",
        "    --group large:codec=zstd,cache=low",
        "  stele table create salaries amount --reader group:analysts",
        "  stele table create webtable2 --like webtable",
        "  stele table create users profile --splits-file rows.txt",
        "",
        "Next: stele put TABLE ROW COLUMN VALUE"
      })
  int create(
      @Mixin ClusterOptions cluster,
      @Parameters(
              paramLabel = "TABLE",
              description = "The table's name: letters, digits, '_', '-', '.'.")
          String name,
      @Parameters(
              paramLabel = "FAMILY",
              arity = "0..*",
              description = "A column family, see below.")
          List<String> families,
      @Option(
              names = "--codec",
              paramLabel = "CODEC",
              description =
                  "Compression of locality groups that name no codec, see below (default: snappy).")
          Optional<Codec> codec,
      @Option(
              names = "--group",
              paramLabel = "GROUP",
              converter = OptionValue.Group.class,
              description = "A locality group, see below; may be repeated.")
          List<String> groups,
      @Option(
              names = "--split-size",
              paramLabel = "SIZE",
              converter = OptionValue.Size.class,
              description = "Split tablets larger than this, such as 64m (default: 1g).")
          Optional<Long> splitSize,
      @Mixin SplitOptions splits,
      @Option(
              names = "--hsync",
              description =
                  "Acknowledge when a mutation is on disk at every replica, not only in memory.")
          boolean hsync,
      @Option(
              names = "--reader",
              paramLabel = "PRINCIPAL",
              description =
                  "Who may read the table's files besides the store: user:NAME or group:NAME; may be"
                      + " repeated (default: whoever HDFS permits to read them).")
          List<Principal> readers,
      @Option(
              names = "--like",
              paramLabel = "TABLE",
              description =
                  "Create the table as this one is, with its split rows if none are given.")
          Optional<String> like,
      @Mixin ChangeOptions change)
      throws Exception {
    List<Bytes> splitRows = splits.rows();
    if (like.isPresent()) {
      boolean others = codec.isPresent() || splitSize.isPresent() || hsync;
      requireNoneBesideLike(like.get(), others, families, groups, readers);
      return createLike(cluster, name, like.get(), splitRows, change);
    }
    List<ColumnFamily> parsed = parsedForNew(orNone(families));
    List<LocalityGroup> stored = groupsForNew(parsed, codec.orElse(Codec.SNAPPY), groups);
    long splitBytes = splitSize.orElse(TableSchema.SPLIT_BYTES);
    TableSchema schema =
        parsed(
            "create",
            () -> new TableSchema(name, parsed, stored, splitBytes, hsync, orNone(readers)));
    try (Stele stele = cluster.connect()) {
      change.finish(
          stele.admin().beginCreateTable(schema, splitRows), "Created table " + name + ".", out());
    }
    return ExitCode.DONE.number();
  }

  private void requireNoneBesideLike(String like, boolean others, List<?>... lists) {
    if (others || Stream.of(lists).anyMatch(some -> some != null && !some.isEmpty())) {
      throw new ParameterException(
          spec.commandLine().getSubcommands().get("create"),
          "with --like give only split rows: everything else is as in table " + like);
    }
  }

  private List<ColumnFamily> parsedForNew(List<String> families) {
    if (families.isEmpty()) {
      throw new ParameterException(
          spec.commandLine().getSubcommands().get("create"),
          "name a column family, or a table with --like");
    }
    return parsed("create", families);
  }

  private List<LocalityGroup> groupsForNew(
      List<ColumnFamily> families, Codec codec, List<String> groups) {
    List<LocalityGroup> stored = withCodec(codec, groups);
    requireGroups("create", families, stored);
    return stored;
  }

  private int createLike(
      ClusterOptions cluster, String name, String like, List<Bytes> splitRows, ChangeOptions change)
      throws Exception {
    try (Stele stele = cluster.connect()) {
      TableSchema model = stele.admin().describeTable(like);
      TableSchema schema =
          parsed(
              "create",
              () ->
                  new TableSchema(
                      name,
                      model.families(),
                      model.groups(),
                      model.splitBytes(),
                      model.hsync(),
                      model.readers()));
      change.finish(
          stele
              .admin()
              .beginCreateTable(schema, splitRows.isEmpty() ? splitRows(stele, like) : splitRows),
          "Created table " + name + ".",
          out());
    }
    return ExitCode.DONE.number();
  }

  /** The rows at which the tablets of a table begin, but the first. */
  private static List<Bytes> splitRows(Stele stele, String table) throws Exception {
    return stele.table(table).tablets().stream()
        .map(tablet -> tablet.rows().start())
        .filter(row -> !row.isEmpty())
        .toList();
  }

  /** The values of an option that may be left out. */
  private static <T> List<T> orNone(List<T> values) {
    return values == null ? List.of() : values;
  }

  /** What cannot be undone must be confirmed. */
  private void requireYes(boolean sure, String command, String what) {
    if (!sure) {
      throw new ParameterException(
          spec.commandLine().getSubcommands().get(command), what + ": add --yes to confirm");
    }
  }

  /** The families as new ones; text that is none is wrong usage. */
  private List<ColumnFamily> parsed(String command, List<String> texts) {
    return parsed(command, () -> texts.stream().map(FamilyText::parse).toList());
  }

  /** What the words of a command mean, found out before a cluster is asked. */
  private <T> T parsed(String command, Supplier<T> meaning) {
    try {
      return meaning.get();
    } catch (SteleException wrong) {
      throw new ParameterException(
          spec.commandLine().getSubcommands().get(command), wrong.getMessage(), wrong);
    }
  }

  /** Every family must be in one of {@code groups}. */
  private void requireGroups(
      String command, List<ColumnFamily> families, List<LocalityGroup> groups) {
    for (ColumnFamily family : families) {
      if (groups.stream().noneMatch(group -> group.name().equals(family.group()))) {
        throw new ParameterException(
            spec.commandLine().getSubcommands().get(command),
            "family "
                + family.name()
                + " is in locality group "
                + family.group()
                + ", which does not exist: add --group "
                + family.group());
      }
    }
  }

  /** The groups asked for, with {@code codec} where they name none; the default one among them. */
  private static List<LocalityGroup> withCodec(Codec codec, List<String> texts) {
    List<LocalityGroup> groups = new ArrayList<>();
    for (String text : orNone(texts)) {
      LocalityGroup named = LocalityGroup.of(GroupText.name(text)).withCodec(codec);
      groups.add(GroupText.change(named, text));
    }
    if (groups.stream().noneMatch(group -> group.name().equals(LocalityGroup.DEFAULT_NAME))) {
      groups.add(LocalityGroup.of(LocalityGroup.DEFAULT_NAME).withCodec(codec));
    }
    return groups;
  }

  @Command(
      name = "alter",
      description = "Change a table: its families, locality groups and other settings.",
      mixinStandardHelpOptions = true,
      footer = {
        "",
        "Write families and groups as for `stele table create`. Of an existing one,",
        "only the settings given here change: versions=all and age=any remove a limit,",
        "and memory=no undoes memory. New SSTables follow a change of groups at once.",
        "Compactions rewrite the old ones over time; `stele table compact` rewrites",
        "them now.",
        "",
        "A family added under the name of a dropped family is empty. Such a change",
        "takes longer: all tablets first remove the remaining cells of the old family.",
        "",
        "Examples:",
        "  stele table alter webtable contents:versions=5,group=pages \\",
        "    --group pages:codec=zstd",
        "  stele table alter webtable --group pages:block=1m",
        "  stele table alter webtable --drop-family language --yes",
        "  stele table alter webtable --reader user:alice --drop-reader group:analysts"
      })
  int alter(
      @Mixin ClusterOptions cluster,
      @Parameters(index = "0", paramLabel = "TABLE") String name,
      @Parameters(
              index = "1..*",
              paramLabel = "FAMILY",
              arity = "0..*",
              description = "A column family to add or change.")
          List<String> families,
      @Option(
              names = "--group",
              paramLabel = "GROUP",
              converter = OptionValue.Group.class,
              description = "A locality group to add or change; may be repeated.")
          List<String> groups,
      @Option(
              names = "--drop-family",
              paramLabel = "FAMILY",
              description = "Drop a family and all its data; needs --yes; may be repeated.")
          List<String> dropped,
      @Option(names = "--yes", description = "Confirm that a family's data is dropped.")
          boolean sure,
      @Option(
              names = "--split-size",
              paramLabel = "SIZE",
              converter = OptionValue.Size.class,
              description = "Split tablets larger than this, such as 64m.")
          Optional<Long> splitSize,
      @Option(
              names = "--hsync",
              negatable = true,
              description =
                  "Acknowledge when a mutation is on disk at every replica, not only in memory.")
          Optional<Boolean> hsync,
      @Mixin ReaderOptions readers,
      @Mixin ChangeOptions change)
      throws Exception {
    List<String> changes = orNone(families);
    if (changes.isEmpty()
        && orNone(groups).isEmpty()
        && orNone(dropped).isEmpty()
        && splitSize.isEmpty()
        && hsync.isEmpty()
        && readers.isEmpty()) {
      throw new ParameterException(
          spec.commandLine().getSubcommands().get("alter"),
          "say what to change: a family, such as contents:versions=5, --group, --drop-family,"
              + " --split-size, --hsync, --reader or --drop-reader");
    }
    parsed("alter", changes);
    String gone = String.join(", ", orNone(dropped));
    requireYes(
        sure || gone.isEmpty(), "alter", "dropping " + gone + " of " + name + " deletes its data");
    try (Stele stele = cluster.connect()) {
      TableSchema before = stele.admin().describeTable(name);
      TableSchema after =
          altered(before, orNone(groups), changes, orNone(dropped))
              .withSplitBytes(splitSize.orElse(before.splitBytes()))
              .withHsync(hsync.orElse(before.hsync()))
              .withReaders(readers.change(before));
      change.finish(
          stele.admin().beginAlterTable(before, after), "Altered table " + name + ".", out());
    }
    return ExitCode.DONE.number();
  }

  /** The schema with groups and families added or changed, and families dropped. */
  private TableSchema altered(
      TableSchema before, List<String> groups, List<String> families, List<String> dropped) {
    TableSchema after = before;
    for (String text : groups) {
      String group = GroupText.name(text);
      LocalityGroup old = before.group(group).orElseGet(() -> LocalityGroup.of(group));
      after = after.with(GroupText.change(old, text));
    }
    for (String text : families) {
      ColumnFamily changed =
          after
              .family(FamilyText.name(text))
              .map(family -> FamilyText.change(family, text))
              .orElseGet(() -> FamilyText.parse(text));
      requireGroups("alter", List.of(changed), after.groups());
      after = after.with(changed);
    }
    for (String family : dropped) {
      after = after.without(family);
    }
    return after;
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
  int describe(
      @Mixin ClusterOptions cluster,
      @Parameters(paramLabel = "TABLE") String name,
      @Option(
              names = "--as-command",
              description = "Print the `stele table create` command for a table like this one.")
          boolean asCommand,
      @Option(
              names = "--splits-to",
              paramLabel = "FILE",
              description =
                  "With --as-command: write the first rows of the tablets to this file, which the"
                      + " command then names.")
          Optional<Path> splitsTo)
      throws Exception {
    if (splitsTo.isPresent() && !asCommand) {
      throw new ParameterException(
          spec.commandLine().getSubcommands().get("describe"), "--splits-to needs --as-command");
    }
    try (Stele stele = cluster.connect()) {
      TableSchema schema = stele.admin().describeTable(name);
      if (asCommand) {
        printCommand(schema, splitRows(stele, name), splitsTo);
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
