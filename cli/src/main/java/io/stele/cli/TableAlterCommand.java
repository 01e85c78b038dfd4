package io.stele.cli;

import io.stele.client.Stele;
import io.stele.model.ColumnFamily;
import io.stele.model.LocalityGroup;
import io.stele.model.TableSchema;
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

/** {@code stele table alter}. */
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
final class TableAlterCommand implements Callable<Integer> {
  @Mixin private ClusterOptions cluster;

  @Parameters(index = "0", paramLabel = "TABLE")
  private String name;

  @Parameters(
      index = "1..*",
      paramLabel = "FAMILY",
      arity = "0..*",
      description = "A column family to add or change.")
  private List<String> families = List.of();

  @Option(
      names = "--group",
      paramLabel = "GROUP",
      converter = OptionValue.Group.class,
      description = "A locality group to add or change; may be repeated.")
  private List<String> groups = List.of();

  @Option(
      names = "--drop-family",
      paramLabel = "FAMILY",
      description = "Drop a family and all its data; needs --yes; may be repeated.")
  private List<String> dropped = List.of();

  @Option(names = "--yes", description = "Confirm that a family's data is dropped.")
  private boolean sure;

  @Option(
      names = "--split-size",
      paramLabel = "SIZE",
      converter = OptionValue.Size.class,
      description = "Split tablets larger than this, such as 64m.")
  private Optional<Long> splitSize = Optional.empty();

  @Option(
      names = "--hsync",
      negatable = true,
      description = "Acknowledge when a mutation is on disk at every replica, not only in memory.")
  private Optional<Boolean> hsync = Optional.empty();

  @Mixin private ReaderOptions readers;

  @Mixin private ChangeOptions change;

  @Spec private CommandSpec spec;

  @Override
  public Integer call() throws Exception {
    requireChange();
    SchemaText.families(spec, families);
    if (!dropped.isEmpty() && !sure) {
      throw new ParameterException(
          spec.commandLine(),
          "dropping "
              + String.join(", ", dropped)
              + " of "
              + name
              + " deletes its data: add --yes to confirm");
    }
    try (Stele stele = cluster.connect()) {
      TableSchema before = stele.admin().describeTable(name);
      TableSchema after =
          altered(before)
              .withSplitBytes(splitSize.orElse(before.splitBytes()))
              .withHsync(hsync.orElse(before.hsync()))
              .withReaders(readers.change(before));
      change.finish(
          stele.admin().beginAlterTable(before, after),
          "Altered table " + name + ".",
          spec.commandLine().getOut());
    }
    return ExitCode.DONE.number();
  }

  private void requireChange() {
    if (Stream.of(families, groups, dropped).allMatch(List::isEmpty)
        && splitSize.isEmpty()
        && hsync.isEmpty()
        && readers.isEmpty()) {
      throw new ParameterException(
          spec.commandLine(),
          "say what to change: a family, such as contents:versions=5, --group, --drop-family,"
              + " --split-size, --hsync, --reader or --drop-reader");
    }
  }

  /** The schema with groups and families added or changed, and families dropped. */
  private TableSchema altered(TableSchema before) {
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
      SchemaText.requireGroups(spec, List.of(changed), after.groups());
      after = after.with(changed);
    }
    for (String family : dropped) {
      after = after.without(family);
    }
    return after;
  }
}
