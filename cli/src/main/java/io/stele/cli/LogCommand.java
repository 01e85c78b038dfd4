package io.stele.cli;

import io.stele.config.Keys;
import io.stele.log.LogRepair;
import io.stele.metadata.Layout;
import io.stele.model.Amount;
import io.stele.model.SteleException;
import java.io.PrintWriter;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code stele log}: damaged logs of dead servers. */
@Command(
    name = "log",
    description =
        "Check the commit logs of dead tablet servers, and accept the loss of damaged parts.",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "(check|accept-loss)",
    footer = {
      "",
      "A tablet is not served while some of its records may be lost: stele status",
      "shows such tablets, and why.",
      "",
      "Examples:",
      "  stele log check",
      "  stele log accept-loss host_7021_1700000000000 user-7.log"
    })
final class LogCommand {
  private static final int TABLETS_SHOWN = 20;

  @Spec private CommandSpec spec;

  private PrintWriter out() {
    return spec.commandLine().getOut();
  }

  @Command(
      name = "check",
      description =
          "Read the logs that tablets may still need; show the damaged segments, and the tablets whose records were there.",
      mixinStandardHelpOptions = true,
      footer = {
        "",
        "Exits with 7 if there is damage whose loss is not accepted. Otherwise it exits",
        "with 5 while HDFS has not closed all segments: run it again later."
      })
  int check(@Mixin ClusterOptions cluster) throws Exception {
    Configuration conf = cluster.configuration();
    Path root = new Path(Keys.ROOT_DIR.in(conf));
    FileSystem fs = root.getFileSystem(conf);
    List<Path> logs = LogRepair.logs(fs, Layout.open(fs, root).recovery());
    int waiting = 0;
    int open = 0;
    for (Path log : logs) {
      List<LogRepair.Damaged> damaged = LogRepair.check(fs, log);
      for (LogRepair.Damaged one : damaged) {
        show(log, one);
        waiting += one.accepted() || one.open() ? 0 : 1;
        open += one.accepted() || !one.open() ? 0 : 1;
      }
    }
    out()
        .println(
            Amount.of(logs.size(), "log")
                + ", "
                + Amount.of(waiting, "damaged segment")
                + " whose loss is not accepted"
                + (open == 0
                    ? ""
                    : ", and " + Amount.of(open, "segment") + " that HDFS has not closed"));
    if (waiting > 0) {
      return ExitCode.CORRUPTION.number();
    }
    return open > 0 ? ExitCode.RETRY_LATER.number() : ExitCode.DONE.number();
  }

  @Command(
      name = "accept-loss",
      description =
          "Load tablets without the records lost in a segment that is damaged, missing or not closed by HDFS. This cannot be undone.",
      mixinStandardHelpOptions = true,
      footer = {
        "",
        "Without --yes, only shows what is lost. Try to restore the file first: from",
        "another replica, from a snapshot, or from a DataNode that is down. The",
        "acceptance covers only the damage found now. A segment that HDFS has not",
        "closed is given up as a whole, unless HDFS closes it within a minute or so."
      })
  int acceptLoss(
      @Mixin ClusterOptions cluster,
      @Parameters(paramLabel = "LOG", description = "The log, as stele log check shows it.")
          String log,
      @Parameters(paramLabel = "SEGMENT", description = "The segment's file, such as user-7.log.")
          String segment,
      @Option(names = "--yes", description = "Accept the loss.") boolean yes)
      throws Exception {
    Configuration conf = cluster.configuration();
    Path root = new Path(Keys.ROOT_DIR.in(conf));
    FileSystem fs = root.getFileSystem(conf);
    Path directory =
        LogRepair.logs(fs, Layout.open(fs, root).recovery()).stream()
            .filter(one -> one.getName().equals(log))
            .findFirst()
            .orElseThrow(
                () -> SteleException.notFound("there is no log " + log + " of a dead server"));
    if (!yes) {
      show(directory, LogRepair.damaged(fs, directory, segment));
      throw SteleException.refused("nothing was changed: to give up what is lost, add --yes");
    }
    LogRepair.Damaged accepted = LogRepair.accept(fs, directory, segment);
    show(directory, accepted);
    out()
        .println(
            accepted.open()
                ? "Accepted: the master continues without it within minutes, unless HDFS closes it first."
                : "Accepted: tablets continue without it when they are next loaded, within minutes.");
    return ExitCode.DONE.number();
  }

  private void show(Path log, LogRepair.Damaged damaged) {
    String segment = damaged.segment().path().getName();
    out().println("log " + log.getName() + " segment " + segment);
    damaged.damage().forEach(damage -> out().println("  " + damage.getMessage()));
    out()
        .println(
            "  written "
                + damaged.written().after().map(time -> "after " + text(time) + " and ").orElse("")
                + damaged
                    .written()
                    .before()
                    .map(time -> "before " + text(time))
                    .orElse("until its server died"));
    if (damaged.tablets().isPresent()) {
      out().println("  records in it, by tablet and sequence number:");
      damaged.tablets().get().tablets().entrySet().stream()
          .limit(TABLETS_SHOWN)
          .forEach(one -> out().println("    " + one.getKey() + " " + one.getValue()));
      int more = damaged.tablets().get().tablets().size() - TABLETS_SHOWN;
      if (more > 0) {
        out().println("    and " + more + " more tablets");
      }
    } else {
      out().println("  whose records it had is not known: any tablet of that server");
    }
    String accept = "stele log accept-loss " + log.getName() + " " + segment;
    if (damaged.accepted()) {
      out().println("  its loss is accepted");
    } else if (damaged.open()) {
      out()
          .println(
              "  if it stays so for some minutes, and the DataNodes that had it are lost: "
                  + accept);
    } else {
      out().println("  to continue without it: " + accept);
    }
  }

  private static String text(Instant time) {
    return time.truncatedTo(ChronoUnit.SECONDS).toString();
  }
}
