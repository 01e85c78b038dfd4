package io.stele.client;

import io.stele.metadata.JobNodes;
import io.stele.model.SteleException;
import io.stele.runtime.Durations;
import io.stele.runtime.ProcessRuntime;
import io.stele.runtime.Task;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalInt;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps a job while somebody reads, writes or commits for it, however long that takes: a thread of
 * its own renews the job. Internal: for input and output formats.
 */
public final class JobRenewal implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(JobRenewal.class);
  private static final Duration EVERY_MAX = Duration.ofSeconds(20);

  /** How often a job is renewed in its lease, at least: one renewal may fail. */
  private static final int RENEWALS = 3;

  private final Jobs jobs;
  private final String job;
  private final OptionalInt pinning;
  private final Optional<Duration> every;
  private final Task task;
  private volatile Optional<SteleException> over = Optional.empty();

  private JobRenewal(
      ProcessRuntime runtime,
      Jobs jobs,
      String job,
      OptionalInt pinning,
      Optional<Duration> every) {
    this.jobs = jobs;
    this.job = job;
    this.pinning = pinning;
    this.every = every;
    this.task = runtime.start("renew-job", () -> run(runtime));
  }

  /** Renews {@code job} at once, and several times in its lease until this is closed. */
  static JobRenewal start(ProcessRuntime runtime, Jobs jobs, String job) {
    return new JobRenewal(runtime, jobs, job, OptionalInt.empty(), Optional.empty());
  }

  /**
   * Like {@link #start(ProcessRuntime, Jobs, String)}, with the pinning of the job's tablets.
   *
   * @param pinning its id
   * @param every how long it is between two renewals
   */
  static JobRenewal start(
      ProcessRuntime runtime, Jobs jobs, String job, int pinning, Duration every) {
    return new JobRenewal(runtime, jobs, job, OptionalInt.of(pinning), Optional.of(every));
  }

  /**
   * Does nothing while the job is there, as far as the last renewal told.
   *
   * @throws SteleException NOT_FOUND if the job is over
   */
  public void check() {
    if (over.isPresent()) {
      throw over.get();
    }
  }

  private void run(ProcessRuntime runtime) {
    try {
      Optional<Duration> pause = every;
      while (mayGoOn()) {
        if (pause.isEmpty()) {
          pause = pauseOfLease();
        }
        runtime.sleep(pause.orElse(JobNodes.LEASE_MIN.dividedBy(RENEWALS)));
      }
    } catch (InterruptedException e) {
      LOG.debug("Job {} is renewed no more", job, e);
    } catch (RuntimeException | Error e) {
      LOG.error("Job {} is renewed no more, and will be over when its lease is", job, e);
      throw e;
    }
  }

  /** How long to wait between renewals; empty if the lease cannot be read now. */
  private Optional<Duration> pauseOfLease() {
    try {
      return jobs.leaseOf(job).map(lease -> Durations.min(EVERY_MAX, lease.dividedBy(RENEWALS)));
    } catch (IOException | SteleException e) {
      LOG.debug("Cannot read the lease of job {} now; will retry", job, e);
      return Optional.empty();
    }
  }

  /** Renews the job; returns whether to keep renewing it. */
  private boolean mayGoOn() {
    try {
      if (pinning.isPresent()) {
        jobs.renewPinning(job, pinning.getAsInt());
      } else {
        jobs.renew(job);
      }
      return true;
    } catch (InterruptedIOException e) {
      return false; // This is closed.
    } catch (IOException | SteleException e) {
      if (e instanceof SteleException known && known.code() == SteleException.Code.NOT_FOUND) {
        over = Optional.of(known);
        if (hasCommitted()) { // Whoever commits it keeps it until then, and a little longer.
          LOG.info("Job {} has committed, and is renewed no more", job);
        } else {
          LOG.error("What it still reads or writes fails from now on: {}", e.getMessage());
        }
        return false;
      }
      LOG.warn("Cannot renew job {} now; will retry: {}", job, e.toString());
      return true;
    }
  }

  private boolean hasCommitted() {
    try {
      return jobs.state(job) == JobNodes.State.COMMITTED;
    } catch (IOException | SteleException e) {
      LOG.debug("Cannot read how job {} has ended", job, e);
      return false;
    }
  }

  /** Ends it; the job itself goes on. */
  @Override
  public void close() {
    task.interrupt();
  }
}
