package io.stele.cli;

import io.stele.check.CheckReport;
import io.stele.check.ClusterCheck;
import io.stele.check.Problem;
import io.stele.config.ClusterConfig;
import io.stele.config.Keys;
import io.stele.lock.CuratorLockService;
import io.stele.lock.LockService;
import io.stele.model.Amount;
import io.stele.runtime.ProcessRuntime;
import io.stele.runtime.SystemRuntime;
import io.stele.wire.NetworkTransport;
import io.stele.wire.Transport;
import java.io.IOException;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.concurrent.Callable;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code stele check}: checks whether a cluster is consistent. */
@Command(
    name = "check",
    description = "Check a running cluster for inconsistencies. Changes nothing.",
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "Checks METADATA for contradictions, and compares it with ZooKeeper, the files",
      "and what the tablet servers serve. Checks each problem a second time, because",
      "tablets move and are compacted in the meantime. Exits with 9 if it finds a",
      "problem.",
      "",
      "Examples:",
      "  stele check           show the problems, and how to solve them",
      "  stele check --data    the same, and read every SSTable: may take long"
    })
final class CheckCommand implements Callable<Integer> {
  @Mixin private ClusterOptions cluster;

  @Option(names = "--data", description = "Read all SSTables and check their contents.")
  private boolean data;

  @Mixin private Wait wait;

  /** How long a problem must last to count. */
  static final class Wait {
    @Option(
        names = "--wait",
        paramLabel = "TIME",
        converter = OptionValue.Seconds.class,
        description =
            "Pause before the second check, such as 30s; a bare number is seconds (default: 30s). Choose it longer than tablets"
                + " stay unserved after a server's death.")
    private Duration time = Duration.ofSeconds(30);
  }

  @Spec private CommandSpec spec;

  @Override
  public Integer call() throws Exception {
    CheckReport report = check(cluster, cluster.configuration(), wait, data);
    print(spec.commandLine().getOut(), report);
    return (report.problems().isEmpty() ? ExitCode.DONE : ExitCode.PROBLEMS).number();
  }

  static CheckReport check(ClusterOptions cluster, Configuration conf, Wait wait, boolean data)
      throws IOException {
    cluster.connect(conf).close(); // Says within seconds that the cluster is stopped.
    ProcessRuntime runtime = SystemRuntime.INSTANCE;
    FileSystem fs = new Path(Keys.ROOT_DIR.in(conf)).getFileSystem(conf);
    try (LockService locks = CuratorLockService.connect(runtime, ClusterConfig.of(conf));
        Transport transport = new NetworkTransport(conf, runtime, "localhost");
        ClusterCheck check = new ClusterCheck(conf, runtime, fs, locks, transport)) {
      return check.check(wait.time, data);
    }
  }

  static void print(PrintWriter out, Problem problem) {
    String detail = problem.detail().isEmpty() ? "" : ": " + problem.detail();
    out.println(problem.subject() + ": " + problem.wrong() + detail);
    out.println("    " + problem.remedy());
  }

  private static void print(PrintWriter out, CheckReport report) {
    report.problems().forEach(problem -> print(out, problem));
    out.println(
        "checked "
            + Amount.of(report.tables(), "table")
            + " with "
            + Amount.of(report.tablets(), "tablet")
            + ", "
            + Amount.of(report.servers(), "tablet server")
            + ", "
            + Amount.of(report.files(), "SSTable")
            + " of "
            + TextTable.size(report.fileBytes())
            + (report.verified() ? ", and what is in them" : ""));
    if (report.unnamedFiles() > 0) {
      out.println(
          Amount.of(report.unnamedFiles(), "file")
              + " of "
              + TextTable.size(report.unnamedBytes())
              + (report.unnamedFiles() == 1 ? " belongs" : " belong")
              + " to no tablet: written just now, or to be swept");
    }
    out.println(
        report.problems().isEmpty()
            ? "no problems found"
            : Amount.of(report.problems().size(), "problem")
                + "; stele repair shows what can be done");
  }
}
