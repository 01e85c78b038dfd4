package io.stele.tabletserver;

import io.stele.metadata.JobNodes;
import io.stele.model.SteleException;
import io.stele.tablet.TabletJobs;
import java.util.concurrent.CompletableFuture;

/**
 * The jobs whose tasks write to this server's tablets. A tablet takes a job's operations once the
 * server has seen the job's node, and remembers them until the job has committed or the node is
 * gone. Safe for use by any number of threads.
 */
final class JobTasks {
  private final JobStates states;

  JobTasks(JobStates states) {
    this.states = states;
  }

  /**
   * Completes when the tablet knows that a job is live.
   *
   * <p>It fails with REFUSED if the job is over, and with RETRY_LATER if that cannot be known now.
   */
  CompletableFuture<Void> admit(HostedTablet hosted, String job) {
    TabletJobs jobs = hosted.tablet().jobs();
    long ended = jobs.ended(); // Before the node is read: the job may end meanwhile.
    return states
        .ask(job)
        .thenAccept(
            state -> {
              if (state != JobNodes.State.BEGUN) {
                throw SteleException.refused(
                    "job "
                        + job
                        + " is over: an attempt of its tasks that still runs writes nothing more");
              }
              jobs.admit(job, ended);
            });
  }

  /** Forgets the tasks of jobs that the last look found to be over. */
  void forgetEnded(HostedTablet hosted) {
    if (states.anyOver()) {
      TabletJobs jobs = hosted.tablet().jobs();
      jobs.all().stream().filter(states::isOver).forEach(jobs::end);
    }
  }
}
