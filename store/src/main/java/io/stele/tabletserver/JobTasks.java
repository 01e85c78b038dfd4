package io.stele.tabletserver;

import io.stele.metadata.JobNodes;
import io.stele.model.SteleException;
import io.stele.runtime.ProcessRuntime;
import io.stele.tablet.TabletJobs;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The jobs whose tasks write to this server's tablets. A tablet takes a job's operations once the
 * server has seen the job's node, and remembers them until the node is gone. Safe for use by any
 * number of threads.
 */
final class JobTasks {
  private static final Logger LOG = LoggerFactory.getLogger(JobTasks.class);
  private static final Duration LOOK_EVERY = Duration.ofSeconds(3);

  private final ProcessRuntime runtime;
  private final HostedTablets tablets;
  private final JobFiles nodes;
  private volatile long nextLookNanos;

  /**
   * The jobs of {@code tablets}.
   *
   * @param nodes used to look up the state of a job
   */
  JobTasks(ProcessRuntime runtime, HostedTablets tablets, JobFiles nodes) {
    this.runtime = runtime;
    this.tablets = tablets;
    this.nodes = nodes;
    this.nextLookNanos = runtime.nanoTime();
  }

  /**
   * Completes when the tablet knows that a job is live.
   *
   * <p>It fails with REFUSED if the job is over, and with RETRY_LATER if that cannot be known now.
   */
  CompletableFuture<Void> admit(HostedTablet hosted, String job) {
    TabletJobs jobs = hosted.tablet().jobs();
    long ended = jobs.ended(); // Before the node is read: the job may end meanwhile.
    return nodes
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

  /** Every few seconds, on other threads, finds out which jobs are over, and forgets these. */
  void lookNowAndThen() {
    if (runtime.nanoTime() - nextLookNanos < 0) {
      return;
    }
    nextLookNanos = runtime.nanoTime() + LOOK_EVERY.toNanos();
    look()
        .exceptionally(
            failure -> {
              LOG.info(
                  "Cannot find out now which jobs are over; will retry: {}", failure.toString());
              return null;
            });
  }

  /** Does the same now; completes when it is done. */
  CompletableFuture<Void> look() {
    Set<String> names = new TreeSet<>();
    tablets.all().forEach(hosted -> names.addAll(hosted.tablet().jobs().all()));
    List<CompletableFuture<?>> asked = new ArrayList<>();
    for (String job : names) {
      asked.add(
          nodes
              .ask(job)
              .thenAccept(
                  state -> {
                    if (state != JobNodes.State.BEGUN) {
                      tablets.all().forEach(hosted -> hosted.tablet().jobs().end(job));
                    }
                  }));
    }
    return CompletableFuture.allOf(asked.toArray(CompletableFuture[]::new));
  }
}
