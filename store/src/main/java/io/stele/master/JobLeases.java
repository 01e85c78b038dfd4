package io.stele.master;

import io.stele.metadata.JobNodes;
import io.stele.metadata.JobOrigin;
import io.stele.metadata.StoredJob;
import io.stele.model.SteleException;
import io.stele.runtime.ProcessRuntime;
import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentSkipListMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Begins jobs, and ends jobs that are not renewed, or whose application has ended.
 *
 * <p>A job of an application, such as one of YARN, needs no renewal while the application waits or
 * runs, and is over soon after it has ended. If the application is unknown, or its state cannot be
 * found out, the job is like others. A job that is part of another needs no renewal either, and is
 * over soon after that.
 *
 * <p>A job is ended when this master itself has seen it unchanged for its lease, and only if it
 * still is: no two clocks are compared, a new master only waits longer, and a deposed master ends
 * no job that was renewed since. Time during which the lock service could not be read does not
 * count, because no job could be renewed then.
 *
 * <p>One thread is in {@link #run} or {@link #checkLeases}; the rest is safe for use by any number
 * of threads.
 */
final class JobLeases implements Runnable {
  private static final Logger LOG = LoggerFactory.getLogger(JobLeases.class);
  private static final Duration CHECK_EVERY = Duration.ofSeconds(1);
  private static final Duration COUNTED_MAX = CHECK_EVERY.multipliedBy(2);
  private static final Duration ASK_EVERY = Duration.ofSeconds(10);
  private static final Duration WRITE_EVERY = Duration.ofMillis(500);

  /** A client that pins tablets renews the pinning each second. */
  private static final Duration PINNING_MAX = Duration.ofSeconds(15);

  private final ProcessRuntime runtime;
  private final JobNodes jobs;
  private final Applications applications;
  private final UnchangedTimes<StoredJob> unrenewed; // The checking thread's.
  private final Map<String, Asked> asked = new HashMap<>(); // The checking thread's, by job.
  private final UnchangedTimes<StoredJob.Pinning> pinning; // The checking thread's.
  private final Map<String, Long> renewedNanos = new ConcurrentSkipListMap<>();
  private final CommitTurns turns;
  private volatile Map<String, StoredJob> forgettable = Map.of();

  /** When the state of an application was requested, and the answer. */
  private record Asked(long nanos, Applications.State state) {}

  JobLeases(ProcessRuntime runtime, JobNodes jobs, Applications applications) {
    this.applications = applications;
    this.runtime = runtime;
    this.jobs = jobs;
    this.unrenewed = new UnchangedTimes<>(runtime, COUNTED_MAX);
    this.pinning = new UnchangedTimes<>(runtime, COUNTED_MAX);
    this.turns = new CommitTurns(runtime);
  }

  /** Begins the job that {@code request} asks for, only once while it exists; returns its name. */
  String begin(
      String request,
      Duration lease,
      Optional<String> application,
      JobOrigin origin,
      StoredJob.Kind kind)
      throws IOException {
    JobNodes.checkLease(lease, "the lease");
    String job = jobs.begin(request, lease, application, origin, kind);
    LOG.info(
        "Job {} has begun, with a lease of {} s{}",
        job,
        lease.toSeconds(),
        application.map(name -> ", for " + name).orElse(""));
    return job;
  }

  /**
   * Renews the lease of a job, at least nearly: of many simultaneous renewals most write nothing.
   *
   * @throws SteleException NOT_FOUND if the job is over
   */
  void renew(String job) throws IOException {
    Long last = renewedNanos.get(job);
    long nanos = runtime.nanoTime();
    if (last != null && nanos - last < WRITE_EVERY.toNanos()) {
      return;
    }
    if (!jobs.renew(job)) {
      renewedNanos.remove(job);
      throw jobs.whyOver(job);
    }
    renewedNanos.put(job, nanos);
  }

  /**
   * Makes other jobs wait with their commits while tablets are being pinned for a job.
   *
   * @param id the version of the job's node as it was read before: it tells this pinning from all
   *     others, so that a request which is served late changes nothing
   * @return false if the node has another version: then nothing has begun
   * @throws SteleException NOT_FOUND if the job is over; REFUSED if others stopped waiting;
   *     RETRY_LATER if a commit has waited so long for other pinnings that it comes first
   */
  boolean beginPinning(String job, int id) throws IOException {
    Optional<String> first = turns.next();
    if (first.isPresent() && hasNotBegunToPin(job)) {
      throw SteleException.retryLater(
          "no further tables are pinned before job "
              + first.get()
              + " has committed, which has waited for others to be pinned for more than "
              + CommitTurns.WAITS_AT_MOST.toSeconds()
              + " s");
    }
    return switch (jobs.beginPinning(job, id)) {
      case YES -> true;
      case CHANGED -> false;
      case OVER -> throw jobs.whyOver(job);
    };
  }

  /** A pinning that has begun goes on: the commit waits for it, not the other way round. */
  private boolean hasNotBegunToPin(String job) throws IOException {
    Optional<StoredJob> now = jobs.read(job);
    return now.isPresent() && !now.get().committed() && now.get().pinning().isEmpty();
  }

  /**
   * Renews the lease of a job, and makes others wait on.
   *
   * @throws SteleException NOT_FOUND if the job is over
   */
  void renewPinning(String job, int id) throws IOException {
    if (!jobs.renewPinning(job, id)) {
      throw jobs.whyOver(job);
    }
  }

  /**
   * Lets other jobs commit: all tablets are pinned.
   *
   * @throws SteleException NOT_FOUND if the job is over; REFUSED if others stopped waiting
   */
  void endPinning(String job, int id) throws IOException {
    if (!jobs.endPinning(job, id)) {
      throw jobs.whyOver(job);
    }
  }

  /**
   * Commits a job; repeating it does nothing.
   *
   * @throws SteleException NOT_FOUND if the job is over and it is no longer known whether it has
   *     committed; RETRY_LATER if tablets are being pinned for another job. Ask again soon then: a
   *     commit that has waited for long comes before further pinnings
   */
  void commit(String job) throws IOException {
    boolean committed;
    try {
      committed = jobs.commit(job);
    } catch (SteleException e) {
      if (e.code() == SteleException.Code.RETRY_LATER) {
        turns.waits(job);
      }
      throw e;
    }
    turns.isOver(job);
    if (!committed) {
      throw jobs.whyOver(job);
    }
    renewedNanos.remove(job);
    LOG.info("Job {} has committed", job);
  }

  /**
   * The jobs that committed longer ago than their lease, or whose application has ended since, so
   * that nobody will ask again how they ended. As this master saw them at its last look; by name,
   * ascending.
   */
  Map<String, StoredJob> forgettable() {
    return forgettable;
  }

  /** Ends a job, if it is not over. */
  void end(String job) throws IOException {
    renewedNanos.remove(job);
    turns.isOver(job);
    jobs.end(job);
    LOG.info("Job {} was ended", job);
  }

  /**
   * Ends a job all of whose output is visible already, if it is not over: it counts as committed.
   */
  void finish(String job) throws IOException {
    renewedNanos.remove(job);
    turns.isOver(job);
    jobs.finish(job);
    LOG.info("Job {} has finished", job);
  }

  /** Looks repeatedly, until it is interrupted. */
  @Override
  public void run() {
    while (true) {
      try {
        runtime.sleep(CHECK_EVERY);
        checkLeases();
      } catch (InterruptedException e) {
        return; // The master is closed.
      } catch (IOException | RuntimeException e) {
        LOG.info("Cannot check the leases of jobs now; will retry: {}", e.toString());
      }
    }
  }

  /** Looks at every job once, and ends those whose lease is over. */
  void checkLeases() throws IOException {
    List<String> names = jobs.names();
    unrenewed.retain(names);
    asked.keySet().retainAll(names);
    pinning.retain(names);
    renewedNanos.keySet().retainAll(names);
    turns.retain(names);
    Map<String, StoredJob> old = new TreeMap<>();
    for (String name : names) {
      try {
        checkLease(name, old);
      } catch (IOException | RuntimeException e) { // Others are looked after.
        LOG.warn("Cannot check the lease of job {} now; will retry: {}", name, e.toString());
      }
    }
    forgettable = old;
  }

  private void checkLease(String name, Map<String, StoredJob> old) throws IOException {
    Optional<StoredJob> now = jobs.read(name);
    if (now.isEmpty()) {
      unrenewed.forget(name);
      return;
    }
    checkPinning(name, now.get());
    Optional<String> application = now.get().application();
    Applications.State state =
        application.isEmpty() ? Applications.State.UNKNOWN : ask(name, application.get());
    if (state == Applications.State.ENDED
        && !now.get().committed()
        && jobs.remove(name, now.get())) {
      LOG.info("Job {} is over: {} has ended", name, application.orElseThrow());
      unrenewed.forget(name);
      return;
    }
    if (state == Applications.State.ENDED && now.get().committed()) {
      old.put(name, now.get());
      return;
    }
    if (state == Applications.State.ALIVE) {
      unrenewed.restart(name, now.get());
      return;
    }
    Duration unchanged = unrenewed.update(name, now.get());
    if (unchanged.compareTo(now.get().lease()) < 0) {
      return;
    }
    if (now.get().committed()) {
      old.put(name, now.get());
    } else if (jobs.remove(name, now.get())) {
      LOG.warn("Job {} was not renewed for {} s, and is over", name, unchanged.toSeconds());
      unrenewed.forget(name);
    }
  }

  /** The client that pins tablets may be dead: others must not wait for it any longer. */
  private void checkPinning(String name, StoredJob now) throws IOException {
    if (!now.isPinning()) {
      pinning.forget(name);
      return;
    }
    Duration unchanged = pinning.update(name, now.pinning().orElseThrow());
    if (unchanged.compareTo(PINNING_MAX) >= 0 && jobs.interruptPinning(name, now)) {
      LOG.warn(
          "The pinning of tablets for job {} was not renewed for {} s: other jobs may commit now",
          name,
          PINNING_MAX.toSeconds());
    }
  }

  /** The state of what runs a job: of an application, which is asked from time to time. */
  private Applications.State ask(String name, String application) throws IOException {
    if (application.startsWith(JobNodes.JOB)) {
      String other = application.substring(JobNodes.JOB.length());
      return jobs.state(other) == JobNodes.State.BEGUN
          ? Applications.State.ALIVE
          : Applications.State.ENDED;
    }
    Asked last = asked.get(name);
    if (last == null || runtime.nanoTime() - last.nanos() >= ASK_EVERY.toNanos()) {
      last = new Asked(runtime.nanoTime(), applications.state(application));
      asked.put(name, last);
    }
    return last.state();
  }
}
