package io.stele.cli;

import io.stele.client.Stele;
import io.stele.yarn.JobApplications;
import java.time.Duration;
import java.util.concurrent.Callable;
import org.apache.hadoop.conf.Configuration;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code stele job kill}: ends a job that runs on YARN. */
@Command(
    name = "kill",
    description = "End a job that runs on YARN, and what the cluster keeps for it.",
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "YARN kills the application that runs the job, whether it waits or runs. With",
      "it end the cluster's jobs for what it reads and writes, within some 20 s.",
      "Files that it has written are deleted and never become visible; what its",
      "tasks have applied with TableOutputFormat stays. A job that has committed is",
      "refused: its output stays. Killing again changes nothing.",
      "",
      "Examples:",
      "  stele job kill 5f0c2ab91d3e",
      "  stele job kill job_1764457000123_0001",
      "",
      "Next: stele job list shows the jobs that are left"
    })
final class JobKillCommand implements Callable<Integer> {
  @Mixin private ClusterOptions cluster;
  @Spec private CommandSpec spec;

  @Parameters(
      paramLabel = "JOB",
      description =
          "The job's name, as stele job list shows it, or that of MapReduce or YARN: job_N_M,"
              + " application_N_M.")
  private String job;

  @Option(
      names = "--timeout",
      paramLabel = "TIME",
      defaultValue = "60s",
      converter = OptionValue.Seconds.class,
      description =
          "Wait at most this long for its end, such as 90s or 10m; a bare number is seconds"
              + " (default: 60s).")
  private Duration timeout = Duration.ofSeconds(60);

  @Override
  public Integer call() throws Exception {
    Configuration conf = cluster.configuration();
    try (Stele stele = cluster.connect(conf);
        JobApplications yarn = JobApplications.connect(conf)) {
      new JobKill(stele, yarn::find, yarn::kill, spec.commandLine().getOut()::println)
          .run(job, timeout);
    }
    return ExitCode.DONE.number();
  }
}
