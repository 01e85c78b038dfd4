package io.stele.tabletserver;

import io.stele.model.SteleException;
import java.util.ArrayList;
import java.util.List;

/**
 * The permissions of one request: the tablets that may answer it although files of jobs wait in
 * them. Safe for use by any number of threads.
 */
final class Passage {
  private volatile List<HostedTablet> passed = List.of();

  /** A request cannot be answered before it is known what became of a job. */
  static final class FilesWaitException extends SteleException {
    private static final long serialVersionUID = 1L;

    private final transient HostedTablet hosted;

    private FilesWaitException(HostedTablet hosted) {
      super(
          Code.RETRY_LATER,
          "tablet " + hosted.id() + " cannot answer before it knows what became of a job");
      this.hosted = hosted;
    }

    HostedTablet hosted() {
      return hosted;
    }
  }

  /** An operation of a job's task cannot be applied before it is known that the job lives. */
  static final class JobUnknownException extends SteleException {
    private static final long serialVersionUID = 1L;

    private final transient HostedTablet hosted;
    private final String job;

    private JobUnknownException(HostedTablet hosted, String job) {
      super(Code.RETRY_LATER, "tablet " + hosted.id() + " does not know yet whether a job lives");
      this.hosted = hosted;
      this.job = job;
    }

    HostedTablet hosted() {
      return hosted;
    }

    String job() {
      return job;
    }
  }

  /**
   * Passes where no file waits, or it was asked since the request came what became of their jobs.
   *
   * @throws FilesWaitException where that must be asked first
   */
  void check(HostedTablet hosted) {
    if (!hosted.tablet().pending().isEmpty() && !passed.contains(hosted)) {
      throw new FilesWaitException(hosted);
    }
  }

  /**
   * Passes where the tablet has admitted {@code job}.
   *
   * @throws JobUnknownException where it must be asked first whether the job lives
   */
  void checkJob(HostedTablet hosted, String job) {
    if (!hosted.tablet().jobs().admits(job)) {
      throw new JobUnknownException(hosted, job);
    }
  }

  /** It was asked what became of the jobs whose files wait in a tablet. */
  void pass(HostedTablet hosted) {
    List<HostedTablet> more = new ArrayList<>(passed);
    more.add(hosted);
    passed = more;
  }
}
