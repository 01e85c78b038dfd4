package io.stele.tablet;

import io.stele.model.OperationId;
import io.stele.model.TaskProgress;
import java.util.Set;

/**
 * What a tablet remembers for the jobs whose tasks write to it. It is kept until {@link #end}.
 *
 * <p>Operations of a job's tasks are answered 'retry later' until the job is {@link #admit
 * admitted}, which is necessary each time the tablet is opened. Safe for use by any number of
 * threads.
 */
public final class TabletJobs {
  private final OperationWindow window;

  TabletJobs(OperationWindow window) {
    this.window = window;
  }

  /** Whether the tablet takes operations of the job's tasks. */
  public boolean admits(String job) {
    return window.admits(job);
  }

  /** How many jobs have ended here. */
  public long ended() {
    return window.jobsEnded();
  }

  /**
   * The job was found to live.
   *
   * @param endedBefore what {@link #ended} gave before somebody began to look: if another job has
   *     ended since then, this does nothing, and it must be looked again
   */
  public void admit(String job, long endedBefore) {
    window.admit(job, endedBefore);
  }

  /** The job is over, for good: what its tasks wrote is forgotten. */
  public void end(String job) {
    window.endJob(job);
  }

  /** The jobs that the tablet remembers something for. */
  public Set<String> all() {
    return window.jobs();
  }

  /**
   * A task says how far it has come; nothing happens if it has written nothing here.
   *
   * @param task any of its operations
   */
  public void settle(OperationId task, TaskProgress said) {
    window.settle(task, said);
  }
}
