package io.stele.cli;

import io.stele.check.CheckReport;
import io.stele.check.ClusterRepair;
import io.stele.check.Problem;
import io.stele.check.Repair;
import io.stele.client.Stele;
import io.stele.config.Keys;
import io.stele.metadata.Layout;
import io.stele.model.SteleException;
import io.stele.runtime.IoConsumer;
import io.stele.runtime.SystemRuntime;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.Callable;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code stele repair}: repairs what a check found, where nothing has to be brought back first. */
@Command(
    name = "repair",
    description = "Check a running cluster, and repair the problems that can be repaired.",
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "Without --yes, it only shows what it would do. It can",
      "  continue without the log of a dead server, if the log no longer exists",
      "  delete the METADATA records of a table that does not exist in ZooKeeper",
      "  treat a server as dead that hangs, or that does not serve its tablets",
      "  retry a tablet in quarantine",
      "The first two give up data that could perhaps still be restored from the trash or a snapshot. Files that belong to no",
      "tablet need no repair: the master deletes them. Exits with 9 if a problem remains.",
      "",
      "Examples:",
      "  stele repair                         what is wrong, and what would be done",
      "  stele repair --yes                   do what gives up no data",
      "  stele repair --yes --accept-loss     do all of it"
    })
final class RepairCommand implements Callable<Integer> {
  @Mixin private ClusterOptions cluster;
  @Mixin private CheckCommand.Wait wait;

  @Option(names = "--yes", description = "Make the repairs.")
  private boolean yes;

  @Option(
      names = "--accept-loss",
      description = "With --yes: also make the repairs that give up data. They cannot be undone.")
  private boolean acceptLoss;

  @Spec private CommandSpec spec;

  @Override
  public Integer call() throws Exception {
    Configuration conf = cluster.configuration();
    PrintWriter out = spec.commandLine().getOut();
    CheckReport report = CheckCommand.check(conf, wait, false);
    show(report, out);
    if (report.problems().isEmpty()) {
      return ExitCode.DONE.number();
    }
    List<Repair> repairs = ClusterRepair.of(report);
    int left = (int) report.problems().stream().filter(one -> one.repair().isEmpty()).count();
    if (yes) {
      Path root = new Path(Keys.ROOT_DIR.in(conf));
      FileSystem fs = root.getFileSystem(conf);
      try (Stele stele = Stele.connect(conf)) {
        ClusterRepair work =
            new ClusterRepair(SystemRuntime.INSTANCE, stele.admin(), fs, Layout.open(fs, root));
        left += carryOut(repairs, acceptLoss, work::carryOut, out);
      }
      out.println("Next: stele check shows whether all is well now");
    } else {
      left += repairs.size();
      out.println("nothing was changed: to repair, add --yes");
    }
    return (left == 0 ? ExitCode.DONE : ExitCode.PROBLEMS).number();
  }

  /** Shows what is wrong, and under it what would be done about it. */
  static void show(CheckReport report, PrintWriter out) {
    for (Problem problem : report.problems()) {
      CheckCommand.print(out, problem);
      problem
          .repair()
          .ifPresent(
              repair ->
                  out.println(
                      "    repair: "
                          + repair.text()
                          + (repair.losesData() ? " (gives up data)" : "")));
    }
    if (report.problems().isEmpty()) {
      out.println("nothing is wrong");
    }
  }

  /**
   * Does what may be done; returns how many repairs were not done.
   *
   * @param work carries out one repair
   */
  static int carryOut(
      List<Repair> repairs, boolean acceptLoss, IoConsumer<Repair> work, PrintWriter out)
      throws IOException {
    int left = 0;
    for (Repair repair : repairs) {
      if (repair.losesData() && !acceptLoss) {
        out.println("not done: " + repair.text() + ": it gives up data; add --accept-loss");
        left++;
        continue;
      }
      try {
        work.accept(repair);
        out.println("done: " + repair.text());
      } catch (SteleException e) { // The others do not depend on it.
        out.println("failed: " + repair.text() + ": " + e.getMessage());
        left++;
      }
    }
    return left;
  }
}
