package io.stele.tablet;

import io.stele.model.SteleException;
import java.util.HashSet;
import java.util.Set;
import java.util.TreeSet;

/**
 * The jobs that were found to be alive since a tablet was opened. Only their tasks' operations may
 * begin.
 *
 * <p>Not safe for use by several threads: it belongs to an {@link OperationWindow}.
 */
final class AdmittedJobs {
  private final Set<String> jobs = new HashSet<>();
  private long ended;

  boolean has(String job) {
    return jobs.contains(job);
  }

  /**
   * Refuses operations of a job that is not admitted.
   *
   * @throws SteleException RETRY_LATER, always for this reason
   */
  void check(String job) {
    if (!has(job)) {
      throw SteleException.retryLater(
          "whether job " + job + " lives must be found out first: try again");
    }
  }

  /** How often a job has ended here. */
  long ended() {
    return ended;
  }

  /** Admits a job that was found to live after {@link #ended} was {@code before}. */
  void admit(String job, long before) {
    if (before == ended) {
      jobs.add(job);
    }
  }

  void end(String job) {
    ended++;
    jobs.remove(job);
  }

  /** The jobs in the order of their names; the caller may change the set. */
  Set<String> names() {
    return new TreeSet<>(jobs);
  }
}
