package io.stele.cli;

import io.stele.check.CheckReport;
import io.stele.check.ClusterRepair;
import io.stele.check.Problem;
import io.stele.check.Repair;
import io.stele.client.Stele;
import io.stele.config.Keys;
import io.stele.metadata.Layout;
import io.stele.model.SteleException;
import io.stele.runtime.Futures;
import io.stele.runtime.IoConsumer;
import io.stele.runtime.SystemRuntime;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
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
      "The first two give up data that could perhaps still be restored from the trash",
      "or a snapshot. Each is made only if --accept-loss names its server or table,",
      "so that nothing is given up that you have not seen. Files that belong to no",
      "tablet need no repair: the master deletes them. Exits with 9 if a problem",
      "remains.",
      "",
      "Examples:",
      "  stele repair                         what is wrong, and what would be done",
      "  stele repair --yes                   do what gives up no data",
      "  stele repair --yes --accept-loss t7  also give up what it said of table t7"
    })
final class RepairCommand implements Callable<Integer> {
  @Mixin private ClusterOptions cluster;
  @Mixin private CheckCommand.Wait wait;

  @Option(names = "--yes", description = "Make the repairs.")
  private boolean yes;

  @Option(
      names = "--accept-loss",
      paramLabel = "TARGET",
      description =
          "With --yes: also make the repair that gives up data of TARGET, a server or table, as stele repair shows it. It"
              + " cannot be undone; may be repeated.")
  private List<String> accepted = List.of();

  @Spec private CommandSpec spec;

  @Override
  public Integer call() throws Exception {
    Configuration conf = cluster.configuration();
    PrintWriter out = spec.commandLine().getOut();
    CheckReport report = CheckCommand.check(cluster, conf, wait, false);
    show(report, out);
    if (report.problems().isEmpty()) {
      return ExitCode.DONE.number();
    }
    List<Repair> repairs = ClusterRepair.of(report);
    showUnknown(accepted, repairs, out);
    int left = (int) report.problems().stream().filter(one -> one.repair().isEmpty()).count();
    if (yes) {
      Path root = new Path(Keys.ROOT_DIR.in(conf));
      FileSystem fs = root.getFileSystem(conf);
      try (Stele stele = cluster.connect(conf)) {
        ClusterRepair work =
            new ClusterRepair(SystemRuntime.INSTANCE, stele.admin(), fs, Layout.open(fs, root));
        left += carryOut(repairs, accepted, work::carryOut, out);
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
                          + (repair.losesData() ? " (needs " + option(repair) + ")" : "")));
    }
    if (report.problems().isEmpty()) {
      out.println("no problems found");
    }
  }

  /** The option without which a repair that gives up data is not made. */
  private static String option(Repair repair) {
    return "--accept-loss " + repair.target();
  }

  /** Says which of the accepted targets no repair has: they are misspelled, or already repaired. */
  static void showUnknown(List<String> accepted, List<Repair> repairs, PrintWriter out) {
    for (String target : accepted) {
      if (repairs.stream().noneMatch(one -> one.losesData() && one.target().equals(target))) {
        out.println("--accept-loss " + target + ": no repair gives up data of it");
      }
    }
  }

  /**
   * Makes the repairs that may be made; returns how many were not. Ends by naming these, also if it
   * is interrupted.
   *
   * @param accepted the targets of which data may be given up
   * @param work carries out one repair
   */
  static int carryOut(
      List<Repair> repairs, List<String> accepted, IoConsumer<Repair> work, PrintWriter out)
      throws IOException {
    List<Repair> left = new ArrayList<>(repairs);
    boolean evicted = false;
    try {
      for (Repair repair : repairs) {
        boolean evicts =
            repair.kind() == Repair.Kind.EVICT_SERVER
                || repair.kind() == Repair.Kind.EVICT_SILENT_SERVER;
        if (evicts && evicted) {
          out.println(
              "not done: "
                  + repair.text()
                  + ": one server at a time; repair again when `stele status` shows that all tablets"
                  + " are served");
        } else if (repair.losesData() && !accepted.contains(repair.target())) {
          out.println(
              "not done: " + repair.text() + ": add " + option(repair) + " to give that up");
        } else if (succeeds(repair, work, out)) {
          out.println("done: " + repair.text());
          left.remove(repair);
          evicted |= evicts;
        }
      }
    } finally {
      if (!left.isEmpty()) {
        out.println("left to do:");
        left.forEach(repair -> out.println("    " + repair.text()));
      }
    }
    return left.size();
  }

  /** Whether a repair is made. The others do not depend on it, whatever makes it fail. */
  private static boolean succeeds(Repair repair, IoConsumer<Repair> work, PrintWriter out)
      throws IOException {
    try {
      work.accept(repair);
      return true;
    } catch (SteleException e) {
      out.println("failed: " + repair.text() + ": " + e.getMessage());
    } catch (IOException e) {
      if (Futures.isInterruption(e)) {
        throw e;
      }
      out.println("failed: " + repair.text() + ": " + e);
    }
    return false;
  }
}
