package io.stele.tabletserver;

import io.stele.metadata.JobNodes;
import io.stele.record.Pin;
import java.io.IOException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The pins of this server's tablets. Each belongs to a job, is made only while the job is live, and
 * is removed when the job has no node any more.
 *
 * <p>So a job never has more than one pin in a tablet: once a pin was removed, the job was over,
 * and no other is made. {@link #pin} and {@link #unpin} are called with the tablet's permit of
 * minor compactions, so that they exclude each other and splits. The other methods are safe for use
 * by any number of threads.
 */
final class JobPins {
  private static final Logger LOG = LoggerFactory.getLogger(JobPins.class);

  private final JobNodes jobs;
  private final JobStates states;

  JobPins(JobNodes jobs, JobStates states) {
    this.jobs = jobs;
    this.states = states;
  }

  /** Whether the tablet is pinned for the job. */
  static boolean isPinned(HostedTablet hosted, String job) {
    return hosted.tablet().pins().stream().anyMatch(pin -> pin.name().equals(job));
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

  /**
   * Whether the last look found that a job with a pin of the tablet is gone, or what was kept for
   * one could not be removed.
   */
  boolean hasEnded(HostedTablet hosted) {
    return hosted.tablet().keepsUnseen()
        || (states.anyOver()
            && hosted.tablet().pins().stream().anyMatch(pin -> states.isGone(pin.name())));
  }

  /** Removes the pins of a tablet whose jobs the last look found to be gone, and what they kept. */
  void unpin(HostedTablet hosted) throws IOException {
    for (Pin pin : hosted.tablet().pins()) {
      if (states.isGone(pin.name()) && hosted.tablet().unpin(pin.name())) {
        LOG.info("Tablet {} is no longer pinned: job {} is over", hosted.id(), pin.name());
      }
    }
    hosted.tablet().removeUnseen();
  }
}
