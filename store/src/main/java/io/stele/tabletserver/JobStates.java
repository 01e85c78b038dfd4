package io.stele.tabletserver;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.stele.metadata.JobNodes;
import io.stele.model.SteleException;
import io.stele.record.Pin;
import io.stele.runtime.ProcessRuntime;
import io.stele.runtime.WorkerPool;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The states of the jobs that this server's tablets know: jobs with pins, with files that wait, or
 * with tasks that write. It asks for them every few seconds, and whenever somebody must know.
 *
 * <p>A job that is over stays over, so what a look has found remains true. A job whose node could
 * not be read, or that no look has asked for, is never taken to be over: everything of it stays.
 *
 * <p>Safe for use by any number of threads. Nodes are read on threads of this object.
 */
final class JobStates implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(JobStates.class);
  private static final Duration POLL_EVERY = Duration.ofSeconds(3);
  private static final int ASKERS = 4;

  private final ProcessRuntime runtime;
  private final HostedTablets tablets;
  private final JobNodes jobs;
  private final WorkerPool askers;
  private final Object lock = new Object();

  /** The callers that asked about a job since the last read of its node began. */
  @GuardedBy("lock")
  private final Map<String, CompletableFuture<JobNodes.State>> waiting = new HashMap<>();

  private final AtomicBoolean looking = new AtomicBoolean();
  private volatile long nextPollNanos;
  private volatile Map<String, JobNodes.State> over = Map.of(); // Found by the last look.

  /** The states of the jobs of {@code tablets}, of which nothing is known before the first look. */
  JobStates(ProcessRuntime runtime, HostedTablets tablets, JobNodes jobs) {
    this.runtime = runtime;
    this.tablets = tablets;
    this.jobs = jobs;
    this.askers = runtime.pool("job-states", ASKERS);
    this.nextPollNanos = runtime.nanoTime();
  }

  /**
   * The state of a job, from a read of its node that begins after this call. It fails with
   * RETRY_LATER if the node cannot be read now. It completes on a thread of this object, which
   * callbacks must not block.
   */
  CompletableFuture<JobNodes.State> ask(String job) {
    CompletableFuture<JobNodes.State> answer = new CompletableFuture<>();
    synchronized (lock) {
      CompletableFuture<JobNodes.State> joined = waiting.putIfAbsent(job, answer);
      if (joined != null) {
        return joined; // That read has not begun.
      }
    }
    if (!start(() -> read(job))) {
      joined(job).completeExceptionally(stopping());
    }
    return answer;
  }

  private boolean start(Runnable work) {
    try {
      askers.execute(work);
      return true;
    } catch (RejectedExecutionException e) {
      LOG.debug("The server stops", e);
      return false;
    }
  }

  private static SteleException stopping() {
    return SteleException.retryLater("this server is stopping");
  }

  /**
   * Removes and returns the callers that have asked about a job by now; later ones are not
   * included.
   */
  private CompletableFuture<JobNodes.State> joined(String job) {
    synchronized (lock) {
      CompletableFuture<JobNodes.State> joined = waiting.remove(job);
      return joined == null ? new CompletableFuture<>() : joined;
    }
  }

  private void read(String job) {
    CompletableFuture<JobNodes.State> answer = joined(job);
    try {
      answer.complete(jobs.state(job));
    } catch (IOException | RuntimeException | Error e) {
      answer.completeExceptionally(
          new SteleException(
              SteleException.Code.RETRY_LATER,
              "it cannot be known now whether job " + job + " has committed: " + e.getMessage(),
              e));
    }
  }

  /** Whether the last look found that a job has committed or has no node any more. */
  boolean isOver(String job) {
    return over.containsKey(job);
  }

  /** Whether the last look found that a job has no node any more. */
  boolean isGone(String job) {
    return over.get(job) == JobNodes.State.GONE;
  }

  /** Whether the last look found any job that is over. */
  boolean anyOver() {
    return !over.isEmpty();
  }

  /** Checks every few seconds which jobs are over, without waiting for it. */
  void pollIfDue() {
    if (runtime.nanoTime() - nextPollNanos < 0 || !looking.compareAndSet(false, true)) {
      return;
    }
    poll()
        .whenComplete(
            (done, failure) -> {
              if (failure != null) {
                LOG.info(
                    "Cannot find out now which jobs are over; will retry: {}", failure.toString());
              }
              nextPollNanos = runtime.nanoTime() + POLL_EVERY.toNanos();
              looking.set(false);
            });
  }

  /** Checks now which jobs of the tablets are over; completes when that is known. */
  CompletableFuture<Void> poll() {
    Set<String> writing = new TreeSet<>();
    Set<String> pinning = new TreeSet<>();
    for (HostedTablet hosted : tablets.all()) {
      writing.addAll(JobFiles.jobsOf(hosted));
      writing.addAll(hosted.tablet().jobs().all());
      hosted.tablet().pins().stream().map(Pin::name).forEach(pinning::add);
    }
    pinning.removeAll(writing);
    return unlisted(pinning)
        .thenCompose(
            unlisted -> {
              writing.addAll(unlisted);
              return readStates(writing);
            });
  }

  /**
   * The jobs of {@code names} that are not in the list of jobs. One list costs less than a read of
   * each node. It may be old and lack a job begun since then: the node itself decides.
   */
  private CompletableFuture<Set<String>> unlisted(Set<String> names) {
    if (names.isEmpty()) {
      return CompletableFuture.completedFuture(names);
    }
    CompletableFuture<Set<String>> answer = new CompletableFuture<>();
    boolean started =
        start(
            () -> {
              try {
                Set<String> unlisted = new TreeSet<>(names);
                jobs.names().forEach(unlisted::remove);
                answer.complete(unlisted);
              } catch (IOException | RuntimeException | Error e) {
                answer.completeExceptionally(e);
              }
            });
    if (!started) {
      answer.completeExceptionally(stopping());
    }
    return answer;
  }

  private CompletableFuture<Void> readStates(Set<String> names) {
    Map<String, JobNodes.State> found = new ConcurrentHashMap<>();
    List<CompletableFuture<?>> asked = new ArrayList<>();
    for (String job : names) {
      asked.add(
          ask(job)
              .thenAccept(
                  state -> {
                    if (state != JobNodes.State.BEGUN) {
                      found.put(job, state);
                    }
                  }));
    }
    return CompletableFuture.allOf(asked.toArray(CompletableFuture[]::new))
        .whenComplete((done, failure) -> over = Map.copyOf(found));
  }

  @Override
  public void close() {
    askers.close();
  }
}
