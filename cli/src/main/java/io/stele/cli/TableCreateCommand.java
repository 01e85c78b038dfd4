package io.stele.cli;

import io.stele.client.Stele;
import io.stele.model.Bytes;
import io.stele.model.Codec;
import io.stele.model.ColumnFamily;
import io.stele.model.LocalityGroup;
import io.stele.model.Principal;
import io.stele.model.TableSchema;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code stele table create}. */
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
      "      loaded when first read, and kept in memory if there is room",
      "",
      "A codec:",
      "  none        for what is compressed already, such as images",
      "  snappy      the quickest to write; saves the least",
      "  lz4         as quick to read, and saves more in large blocks",
      "  gzip        hardly ever: zstd is better in every way",
      "  zstd        saves more than gzip in half the time: for most tables",
      "  zstd-high   saves a quarter more in blocks of 1m, less in smaller ones.",
      "              Writing takes three times as long, reading no longer. For large",
      "              amounts of similar data, such as web pages, in blocks of 256k",
      "              and more",
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
final class TableCreateCommand implements Callable<Integer> {
  @Mixin private ClusterOptions cluster;

  @Parameters(
      index = "0",
      paramLabel = "TABLE",
      description = "The table's name: letters, digits, '_', '-', '.'.")
  private String name;

  @Parameters(
      index = "1..*",
      paramLabel = "FAMILY",
      arity = "0..*",
      description = "A column family, see below.")
  private List<String> families = List.of();

  @Option(
      names = "--codec",
      paramLabel = "CODEC",
      description =
          "Compression of locality groups that name no codec, see below (default: snappy).")
  private Optional<Codec> codec = Optional.empty();

  @Option(
      names = "--group",
      paramLabel = "GROUP",
      converter = OptionValue.Group.class,
      description = "A locality group, see below; may be repeated.")
  private List<String> groups = List.of();

  @Option(
      names = "--split-size",
      paramLabel = "SIZE",
      converter = OptionValue.Size.class,
      description = "Split tablets larger than this, such as 64m (default: 1g).")
  private Optional<Long> splitSize = Optional.empty();

  @Mixin private SplitOptions splits;

  @Option(
      names = "--hsync",
      description = "Acknowledge when a mutation is on disk at every replica, not only in memory.")
  private boolean hsync;

  @Option(
      names = "--reader",
      paramLabel = "PRINCIPAL",
      description =
          "Who may read the table's files besides the store: user:NAME or group:NAME; may be"
              + " repeated (default: whoever HDFS permits to read them).")
  private List<Principal> readers = List.of();

  @Option(
      names = "--like",
      paramLabel = "TABLE",
      description = "Create the table as this one is, with its split rows if none are given.")
  private Optional<String> like = Optional.empty();

  @Mixin private ChangeOptions change;

  @Spec private CommandSpec spec;

  @Override
  public Integer call() throws Exception {
    List<Bytes> rows = splits.rows();
    if (like.isPresent()) {
      createLike(like.get(), rows);
    } else {
      TableSchema schema = wanted();
      try (Stele stele = cluster.connect()) {
        create(stele, schema, rows);
      }
    }
    return ExitCode.DONE.number();
  }

  private void create(Stele stele, TableSchema schema, List<Bytes> rows) throws Exception {
    change.finish(
        stele.admin().beginCreateTable(schema, rows),
        "Created table " + name + ".",
        spec.commandLine().getOut());
  }

  private void createLike(String table, List<Bytes> rows) throws Exception {
    if (codec.isPresent()
        || splitSize.isPresent()
        || hsync
        || Stream.of(families, groups, readers).anyMatch(given -> !given.isEmpty())) {
      throw new ParameterException(
          spec.commandLine(),
          "with --like give only split rows: everything else is as in table " + table);
    }
    try (Stele stele = cluster.connect()) {
      create(stele, asLike(stele, table), rows.isEmpty() ? SplitOptions.rows(stele, table) : rows);
    }
  }

  private TableSchema wanted() {
    if (families.isEmpty()) {
      throw new ParameterException(
          spec.commandLine(), "name a column family, or a table with --like");
    }
    List<ColumnFamily> parsed = SchemaText.families(spec, families);
    List<LocalityGroup> stored = stored(codec.orElse(Codec.SNAPPY));
    SchemaText.requireGroups(spec, parsed, stored);
    long splitBytes = splitSize.orElse(TableSchema.SPLIT_BYTES);
    return SchemaText.meaning(
        spec, () -> new TableSchema(name, parsed, stored, splitBytes, hsync, readers));
  }

  /** The groups asked for, with {@code codec} where they name none; the default one among them. */
  private List<LocalityGroup> stored(Codec codec) {
    List<LocalityGroup> stored = new ArrayList<>();
    for (String text : groups) {
      LocalityGroup named = LocalityGroup.of(GroupText.name(text)).withCodec(codec);
      stored.add(GroupText.change(named, text));
    }
    if (stored.stream().noneMatch(group -> group.name().equals(LocalityGroup.DEFAULT_NAME))) {
      stored.add(LocalityGroup.of(LocalityGroup.DEFAULT_NAME).withCodec(codec));
    }
    return stored;
  }

  private TableSchema asLike(Stele stele, String table) throws IOException {
    TableSchema model = stele.admin().describeTable(table);
    return SchemaText.meaning(
        spec,
        () ->
            new TableSchema(
                name,
                model.families(),
                model.groups(),
                model.splitBytes(),
                model.hsync(),
                model.readers()));
  }
}
