package io.stele.cli;

import io.stele.client.ClusterJob;
import io.stele.client.Stele;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code stele job list}: the jobs for which the cluster keeps something. */
@Command(
    name = "list",
    description =
        "Show the jobs for which the cluster keeps something: what they read at a pin, and what"
            + " they have written.",
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "A job of MapReduce or Spark has one line for what it reads and one for what",
      "it writes. RENEWED counts the renewals of the job: while a task keeps it, the",
      "number grows every 20 s. RUN BY is its application on YARN, the tag of it, or",
      "the job of which it is a part: it ends with that. If nothing is known of that,",
      "it is over when it was not renewed for its LEASE.",
      "",
      "States:",
      "  begun         it reads or writes, and may still commit",
      "  pinning       tablets are being pinned for it: other commits wait",
      "  interrupted   the client that pinned its tablets did not renew in time",
      "  committing    the master checks whether it can commit",
      "  committed     its output is visible, for good",
      "  unreadable    its node in ZooKeeper is damaged, or of a later version",
      "",
      "Example:",
      "  stele job list",
      "",
      "Next: stele job end JOB --yes ends one that no longer runs"
    })
final class JobListCommand implements Callable<Integer> {
  @Mixin private ClusterOptions cluster;
  @Spec private CommandSpec spec;

  @Override
  public Integer call() throws Exception {
    try (Stele stele = cluster.connect()) {
      print(stele.admin().listJobs(), spec.commandLine().getOut());
    }
    return ExitCode.DONE.number();
  }

  static void print(List<ClusterJob> jobs, PrintWriter out) {
    if (jobs.isEmpty()) {
      out.println("There are no jobs.");
      return;
    }
    TextTable text = new TextTable("JOB", "STATE", "LEASE", "RENEWED", "RUN BY");
    for (ClusterJob job : jobs) {
      text.line(
          job.name(),
          job.state().name().toLowerCase(Locale.ROOT),
          job.lease().map(JobListCommand::shown).orElse("-"),
          job.renewals().isPresent() ? job.renewals().getAsLong() : "-",
          job.runner().map(JobListCommand::shown).orElse("-"));
    }
    text.lines("").forEach(out::println);
  }

  private static String shown(Duration lease) {
    long seconds = lease.toSeconds();
    return seconds % 60 != 0
        ? seconds + " s"
        : seconds % 3600 != 0 ? seconds / 60 + " min" : seconds / 3600 + " h";
  }

  private static String shown(ClusterJob.Runner runner) {
    return switch (runner.kind()) {
      case APPLICATION -> runner.name();
      case TAG -> "tag " + runner.name();
      case JOB -> "job " + runner.name();
    };
  }
}
