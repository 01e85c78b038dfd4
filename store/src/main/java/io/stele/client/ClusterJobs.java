package io.stele.client;

import io.stele.metadata.JobNodes;
import io.stele.metadata.JobOrigin;
import io.stele.metadata.StoredJob;
import io.stele.model.CorruptionException;
import io.stele.model.SteleException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What operators do with jobs, whoever began them. Safe for use by any number of threads. */
final class ClusterJobs {
  private static final Logger LOG = LoggerFactory.getLogger(ClusterJobs.class);

  private final Connection connection;
  private final Jobs jobs;

  ClusterJobs(Connection connection, Jobs jobs) {
    this.connection = connection;
    this.jobs = jobs;
  }

  /** All jobs that have a node, by name. */
  List<ClusterJob> list() throws IOException {
    JobNodes nodes = connection.jobNodes();
    return connection.readLocks(
        "listing the jobs",
        () -> {
          List<ClusterJob> found = new ArrayList<>();
          for (String name : nodes.names()) {
            read(nodes, name).ifPresent(found::add);
          }
          return found;
        });
  }

  /** A job; empty if it is gone meanwhile. */
  private static Optional<ClusterJob> read(JobNodes nodes, String name) throws IOException {
    try {
      return nodes.read(name).map(job -> of(name, job));
    } catch (CorruptionException e) { // The others must be seen all the same.
      LOG.debug("Job {} cannot be read", name, e);
      return Optional.of(
          new ClusterJob(
              name,
              ClusterJob.State.UNREADABLE,
              Optional.empty(),
              OptionalLong.empty(),
              Optional.empty(),
              ClusterJob.Origin.UNKNOWN));
    }
  }

  private static ClusterJob of(String name, StoredJob job) {
    return new ClusterJob(
        name,
        state(job),
        Optional.of(job.lease()),
        OptionalLong.of(job.renewals()),
        job.application().map(ClusterJobs::runner),
        origin(job.origin()));
  }

  private static ClusterJob.Origin origin(JobOrigin origin) {
    return new ClusterJob.Origin(origin.begun(), origin.owner(), origin.uses());
  }

  private static ClusterJob.State state(StoredJob job) {
    return switch (job.commit()) {
      case DONE -> ClusterJob.State.COMMITTED;
      case UNDER_WAY -> ClusterJob.State.COMMITTING;
      case NOT_BEGUN ->
          job.isPinning()
              ? ClusterJob.State.PINNING
              : job.pinning().isPresent() ? ClusterJob.State.INTERRUPTED : ClusterJob.State.BEGUN;
    };
  }

  private static ClusterJob.Runner runner(String application) {
    if (application.startsWith(JobNodes.TAG)) {
      return new ClusterJob.Runner(
          ClusterJob.Runner.Kind.TAG, application.substring(JobNodes.TAG.length()));
    }
    if (application.startsWith(JobNodes.JOB)) {
      return new ClusterJob.Runner(
          ClusterJob.Runner.Kind.JOB, application.substring(JobNodes.JOB.length()));
    }
    return new ClusterJob.Runner(ClusterJob.Runner.Kind.APPLICATION, application);
  }

  /** Ends a job that has not committed. */
  void end(String name) throws IOException {
    JobNodes.State state = JobNodes.isName(name) ? jobs.state(name) : JobNodes.State.GONE;
    switch (state) {
      case GONE ->
          throw SteleException.notFound(
              "there is no job " + name + "; `stele job list` shows those there are");
      case COMMITTED -> throw hasCommitted(name);
      case BEGUN -> jobs.end(name);
    }
    if (jobs.state(name) == JobNodes.State.COMMITTED) { // The master found that it had.
      throw hasCommitted(name);
    }
  }

  private static SteleException hasCommitted(String name) {
    return SteleException.refused(
        "job "
            + name
            + " has committed, and cannot be ended: what it has written stays, and the cluster"
            + " forgets the job by itself");
  }
}
