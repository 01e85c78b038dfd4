package io.stele.cli;

import io.stele.client.ClusterJob;
import io.stele.client.Stele;
import io.stele.model.SteleException;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code stele job end}: ends a job for which the cluster keeps something. */
@Command(
    name = "end",
    description = "End a job that no longer runs: the cluster keeps nothing more for it.",
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "This cannot be undone, so --yes is required. The files that the job has",
      "written are deleted and never become visible. What its tasks have applied with",
      "TableOutputFormat stays. If the job still runs, it fails: end it with stele",
      "job kill instead. A job that has committed is refused: its output stays, and",
      "the cluster forgets the job in time.",
      "",
      "Example:",
      "  stele job end JOB --yes",
      "",
      "Next: stele job list shows the jobs that are left"
    })
final class JobEndCommand implements Callable<Integer> {
  @Mixin private ClusterOptions cluster;
  @Spec private CommandSpec spec;

  @Parameters(
      paramLabel = "JOB",
      description = "The job's name, or as much of it as stele job list shows.")
  private String job;

  @Option(
      names = "--yes",
      description = "Confirm that the job no longer runs, and that its files are deleted.")
  private boolean sure;

  @Override
  public Integer call() throws Exception {
    if (!sure) {
      throw new ParameterException(
          spec.commandLine(),
          "ending job "
              + job
              + " deletes the files that it has written, and makes it fail if it still runs: add"
              + " --yes to confirm");
    }
    try (Stele stele = cluster.connect()) {
      String name =
          JobNames.find(stele.admin().listJobs(), job)
              .map(ClusterJob::name)
              .orElseThrow(
                  () ->
                      SteleException.notFound(
                          "there is no job " + job + "; `stele job list` shows those there are"));
      stele.admin().endJob(name);
    }
    spec.commandLine()
        .getOut()
        .println(
            "Job "
                + job
                + " is over. Its pins go within seconds, its files when the master next sweeps.");
    return ExitCode.DONE.number();
  }
}
