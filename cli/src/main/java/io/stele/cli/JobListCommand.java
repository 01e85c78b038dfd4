package io.stele.cli;

import io.stele.client.ClusterJob;
import io.stele.client.ClusterJob.Runner;
import io.stele.client.Stele;
import io.stele.model.SteleException;
import io.stele.model.TableUse;
import io.stele.runtime.Futures;
import io.stele.yarn.JobApplications;
import java.io.IOException;
import java.io.PrintWriter;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
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
      "it writes. JOB is the beginning of its name in the cluster, as much as tells",
      "it from others. RENEWED counts the renewals of the job: while a task keeps it,",
      "the number grows every 20 s. RUN BY is its application on YARN, the tag of it,",
      "or the job of which it is a part: it ends with that. Without one, a job ends",
      "when nobody has renewed it for its LEASE. MapReduce calls application_N_M",
      "job_N_M.",
      "",
      "USES:",
      "  reads (served)   through tablet servers",
      "  reads (direct)   from the table's files",
      "  writes (live)    through tablet servers",
      "  writes (bulk)    files, which become visible when it commits",
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
      "Next: stele job kill JOB ends one that runs, stele job end JOB --yes one that",
      "no longer runs"
    })
final class JobListCommand implements Callable<Integer> {
  private static final Comparator<ClusterJob> BY_TIME =
      Comparator.comparing((ClusterJob job) -> job.origin().begun().orElse(Instant.EPOCH))
          .thenComparing(ClusterJob::name);

  @Mixin private ClusterOptions cluster;
  @Spec private CommandSpec spec;

  @Option(names = "--full", description = "Show the whole names of jobs.")
  private boolean full;

  @Override
  public Integer call() throws Exception {
    Configuration conf = cluster.configuration();
    try (Stele stele = cluster.connect(conf)) {
      List<ClusterJob> jobs = stele.admin().listJobs();
      print(jobs, applications(conf, jobs), spec.commandLine().getOut());
    }
    return ExitCode.DONE.number();
  }

  private void print(List<ClusterJob> jobs, Map<Runner, String> applications, PrintWriter out) {
    if (jobs.isEmpty()) {
      out.println("There are no jobs.");
      return;
    }
    List<String> names = jobs.stream().map(ClusterJob::name).toList();
    UnaryOperator<String> shown = name -> full ? name : JobNames.shortened(name, names);
    TextTable text =
        new TextTable("JOB", "STATE", "USES", "OWNER", "BEGUN", "LEASE", "RENEWED", "RUN BY");
    for (ClusterJob job : jobs.stream().sorted(BY_TIME).toList()) {
      text.line(
          shown.apply(job.name()),
          job.state().name().toLowerCase(Locale.ROOT),
          uses(job.origin().uses()),
          job.origin().owner().orElse("-"),
          job.origin().begun().map(JobListCommand::shown).orElse("-"),
          job.lease().map(JobListCommand::shown).orElse("-"),
          job.renewals().isPresent() ? job.renewals().getAsLong() : "-",
          job.runner().map(runner -> shown(runner, applications, shown)).orElse("-"));
    }
    text.lines("").forEach(out::println);
  }

  /** Such as {@code reads web, sites (direct)}. */
  private static String uses(List<TableUse> uses) {
    if (uses.isEmpty()) {
      return "-";
    }
    Map<TableUse.How, List<String>> tables = new EnumMap<>(TableUse.How.class);
    uses.forEach(
        use -> tables.computeIfAbsent(use.how(), how -> new ArrayList<>()).add(use.table()));
    return tables.entrySet().stream()
        .map(
            entry ->
                (entry.getKey().writes() ? "writes " : "reads ")
                    + String.join(", ", entry.getValue())
                    + " ("
                    + entry.getKey().name().toLowerCase(Locale.ROOT)
                    + ")")
        .collect(Collectors.joining("; "));
  }

  private static String shown(Instant time) {
    return time.truncatedTo(ChronoUnit.SECONDS).toString();
  }

  private static String shown(Duration lease) {
    long seconds = lease.toSeconds();
    return seconds % 60 != 0
        ? seconds + " s"
        : seconds % 3600 != 0 ? seconds / 60 + " min" : seconds / 3600 + " h";
  }

  private static String shown(
      Runner runner, Map<Runner, String> applications, UnaryOperator<String> job) {
    return switch (runner.kind()) {
      case APPLICATION -> applications.getOrDefault(runner, runner.name());
      case TAG -> applications.getOrDefault(runner, "tag " + runner.name());
      case JOB -> "job " + job.apply(runner.name());
    };
  }

  /** What YARN knows of the applications that run jobs; nothing if it does not answer. */
  private static Map<Runner, String> applications(Configuration conf, List<ClusterJob> jobs)
      throws IOException {
    List<Runner> runners =
        jobs.stream()
            .flatMap(job -> job.runner().stream())
            .filter(runner -> runner.kind() != Runner.Kind.JOB)
            .distinct()
            .toList();
    Map<Runner, String> known = new HashMap<>();
    if (runners.isEmpty()) {
      return known;
    }
    try (JobApplications yarn = JobApplications.connect(conf)) {
      for (Runner runner : runners) {
        String found =
            yarn.find(runner).stream()
                .map(one -> one.id() + " " + one.state())
                .collect(Collectors.joining(", "));
        if (!found.isEmpty()) {
          known.put(runner, found);
        }
      }
    } catch (IOException | SteleException e) {
      if (Futures.isInterruption(e)) {
        throw e;
      }
      return known; // The list is true without it.
    }
    return known;
  }
}
