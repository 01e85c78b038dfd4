package io.stele.tabletserver;

import io.stele.metadata.JobNodes;
import io.stele.model.SteleException;
import io.stele.record.Pin;
import io.stele.runtime.ProcessRuntime;
import io.stele.runtime.WorkerPool;
import java.io.IOException;
import java.time.Duration;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The pins of this server's tablets. Each belongs to a job, is made only while the job is live, and
 * is removed when the job is over.
 *
 * <p>So a job never has more than one pin in a tablet: once a pin was removed, the job was over,
 * and no other is made. {@link #pin} and {@link #unpin} are called with the tablet's permit of
 * minor compactions, so that they exclude each other and splits. The other methods are safe for use
 * by any number of threads.
 */
final class JobPins implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(JobPins.class);
  private static final Duration LOOK_EVERY = Duration.ofSeconds(3);

  private final ProcessRuntime runtime;
  private final HostedTablets tablets;
  private final JobNodes jobs;
  private final WorkerPool looker;
  private final AtomicBoolean looking = new AtomicBoolean();
  private volatile long nextLookNanos;
  private volatile Set<String> over = Set.of(); // Of the jobs that have pins here.

  JobPins(ProcessRuntime runtime, HostedTablets tablets, JobNodes jobs) {
    this.runtime = runtime;
    this.tablets = tablets;
    this.jobs = jobs;
    this.looker = runtime.pool("job-pins", 1);
    this.nextLookNanos = runtime.nanoTime();
  }

  /** Whether the tablet is pinned for the job. */
  static boolean isPinned(HostedTablet hosted, String job) {
    return isPinned(hosted, Set.of(job));
  }

  /** Pins a tablet for a job, unless the job is over. */
  void pin(HostedTablet hosted, String job) throws IOException {
    // Check before, too: a job that is over may have had a pin at another point that is still being
    // read.
    if (isOver(job)) {
      LOG.info("Tablet {} is not pinned: job {} is over", hosted.id(), job);
      return;
    }
    hosted.tablet().pin(job);
    if (isOver(job)) {
      hosted.tablet().unpin(job);
    }
  }

  private boolean isOver(String job) throws IOException {
    return jobs.state(job) != JobNodes.State.BEGUN;
  }

  /** Whether a job with a pin of the tablet was over at the last look. */
  boolean hasEnded(HostedTablet hosted) {
    Set<String> ended = over;
    return !ended.isEmpty() && isPinned(hosted, ended);
  }

  private static boolean isPinned(HostedTablet hosted, Set<String> jobs) {
    return hosted.tablet().pins().stream().map(Pin::name).anyMatch(jobs::contains);
  }

  /** Removes the pins of a tablet whose jobs were over at the last look. */
  void unpin(HostedTablet hosted) throws IOException {
    Set<String> ended = over;
    for (Pin pin : hosted.tablet().pins()) {
      if (ended.contains(pin.name()) && hosted.tablet().unpin(pin.name())) {
        LOG.info("Tablet {} is no longer pinned: job {} is over", hosted.id(), pin.name());
      }
    }
  }

  /** Finds out every few seconds, on a thread of its own, which jobs are over. */
  void lookNowAndThen() {
    if (runtime.nanoTime() - nextLookNanos < 0 || !looking.compareAndSet(false, true)) {
      return;
    }
    try {
      looker.execute(
          () -> {
            try {
              look();
            } catch (IOException | SteleException e) {
              LOG.info("Cannot find out now which jobs are over; will retry: {}", e.toString());
            } finally {
              nextLookNanos = runtime.nanoTime() + LOOK_EVERY.toNanos();
              looking.set(false);
            }
          });
    } catch (RejectedExecutionException e) {
      LOG.debug("The server stops", e);
    }
  }

  /** Finds out which jobs with pins here are over. */
  void look() throws IOException {
    Set<String> pinned = new TreeSet<>();
    for (HostedTablet hosted : tablets.all()) {
      hosted.tablet().pins().forEach(pin -> pinned.add(pin.name()));
    }
    if (!pinned.isEmpty()) {
      // The list may be old and lack a job begun since then: the node itself decides.
      jobs.names().forEach(pinned::remove);
    }
    Set<String> ended = new TreeSet<>();
    for (String job : pinned) {
      if (isOver(job)) {
        ended.add(job);
      }
    }
    over = ended;
  }

  @Override
  public void close() {
    looker.close();
  }
}
