package io.stele.cli;

import io.stele.client.ClusterChange;
import io.stele.client.ClusterStatus;
import io.stele.client.Stele;
import io.stele.client.Table;
import io.stele.model.Bytes;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.model.TabletId;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code stele tablet}: single tablets. */
@Command(
    name = "tablet",
    description = "Move, split or merge tablets, or release them from quarantine.",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "(move | split | merge | release)",
    footer = {
      "",
      "Examples:",
      "  stele tablet move webtable com.example node7:41231",
      "  stele tablet split webtable com.example",
      "  stele tablet merge webtable com.example --no-wait",
      "  stele tablet release t5/3c07f2a9d1e84b60",
      "",
      "Next: stele status shows the tablets in quarantine, and why they are there"
    })
final class TabletCommand {
  @Spec private CommandSpec spec;

  @Command(
      name = "move",
      description = "Move the tablet that contains a row to another server.",
      mixinStandardHelpOptions = true,
      footer = {"", "Next: stele table describe TABLE shows which server has which tablet."})
  int move(
      @Mixin ClusterOptions cluster,
      @Parameters(paramLabel = "TABLE", description = "The table's name.") String table,
      @Parameters(paramLabel = "ROW", description = "Any row of the tablet.") Bytes row,
      @Parameters(
              paramLabel = "SERVER",
              arity = "0..1",
              description =
                  "HOST:PORT or the name, as stele server list shows them (default: any other server).")
          Optional<String> server,
      @Mixin WaitOptions wait)
      throws Exception {
    PrintWriter out = spec.commandLine().getOut();
    try (Stele stele = cluster.connect()) {
      Optional<ServerId> to = Optional.empty();
      if (server.isPresent()) {
        List<ClusterStatus.Server> servers = stele.admin().clusterStatus().servers();
        to = Optional.of(ServerCommand.find(servers, server.get()).id());
      }
      ClusterChange move = stele.admin().beginMoveTablet(table, row, to);
      Optional<ClusterChange.Progress> made = wait.finish(move, out);
      made.flatMap(ClusterChange.Progress::server)
          .ifPresent(
              now ->
                  out.println(
                      "The tablet of table "
                          + table
                          + " with row "
                          + row
                          + " is at "
                          + now.hostAndPort()
                          + "."));
    }
    return ExitCode.DONE.number();
  }

  @Command(
      name = "split",
      description = "Split a tablet at a row. The row becomes the first row of the upper tablet.",
      mixinStandardHelpOptions = true,
      footer = {"", "Next: stele table describe TABLE shows the tablets."})
  int split(
      @Mixin ClusterOptions cluster,
      @Parameters(paramLabel = "TABLE", description = "The table's name.") String table,
      @Parameters(paramLabel = "ROW", description = "The first row of the upper tablet.") Bytes row,
      @Mixin WaitOptions wait)
      throws Exception {
    PrintWriter out = spec.commandLine().getOut();
    try (Stele stele = cluster.connect()) {
      boolean before = beginsWith(row, stele.table(table));
      wait.finish(
          stele.admin().beginSplitTablet(table, row),
          before ? "A tablet begins with row " + row + " already." : "Split at row " + row + ".",
          out);
    }
    return ExitCode.DONE.number();
  }

  @Command(
      name = "merge",
      description = "Merge the tablet that starts at a row with the tablet before it.",
      mixinStandardHelpOptions = true,
      footer = {"", "Next: stele table describe TABLE shows the tablets."})
  int merge(
      @Mixin ClusterOptions cluster,
      @Parameters(paramLabel = "TABLE", description = "The table's name.") String table,
      @Parameters(paramLabel = "ROW", description = "The first row of the upper tablet.") Bytes row,
      @Mixin WaitOptions wait)
      throws Exception {
    PrintWriter out = spec.commandLine().getOut();
    try (Stele stele = cluster.connect()) {
      if (!beginsWith(row, stele.table(table))) {
        throw SteleException.notFound(
            "nothing to merge: no tablet of "
                + table
                + " begins with row "
                + row
                + "; `stele table describe "
                + table
                + "` shows the first rows");
      }
      wait.finish(stele.admin().beginMergeTablet(table, row), "Merged at row " + row + ".", out);
    }
    return ExitCode.DONE.number();
  }

  private static boolean beginsWith(Bytes row, Table table) throws IOException {
    return table.tablets().stream().anyMatch(tablet -> tablet.rows().start().equals(row));
  }

  @Command(
      name = "release",
      description =
          "Have a server try a quarantined tablet at once, without waiting for the pause to end.",
      mixinStandardHelpOptions = true,
      footer = {"", "Next: stele status shows whether the tablet is served."})
  int release(
      @Mixin ClusterOptions cluster,
      @Parameters(paramLabel = "TABLET", description = "The tablet's id, as stele status shows it.")
          TabletId tablet)
      throws Exception {
    PrintWriter out = spec.commandLine().getOut();
    try (Stele stele = cluster.connect()) {
      stele.admin().releaseTablet(tablet.toString());
    }
    out.println(
        "Released tablet " + tablet + " from quarantine: a server will try to load it again.");
    return ExitCode.DONE.number();
  }
}
