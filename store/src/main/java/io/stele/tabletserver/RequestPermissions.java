package io.stele.tabletserver;

import io.stele.model.SteleException;
import java.util.ArrayList;
import java.util.List;

/**
 * The permissions of one request: the tablets that may answer it although files of jobs wait in
 * them. A permission is for a tablet, not for the jobs whose files waited when it was given: those
 * registered later are of jobs that commit after the request began, so it may be answered without
 * them. Safe for use by any number of threads.
 */
final class RequestPermissions {
  private volatile List<HostedTablet> permitted = List.of();

  /** A request cannot be answered before a job's outcome is known. */
  static final class FilesPendingException extends SteleException {
    private static final long serialVersionUID = 1L;

    private final transient HostedTablet hosted;

    private FilesPendingException(HostedTablet hosted) {
      super(
          Code.RETRY_LATER,
          "tablet " + hosted.id() + " cannot answer before it knows what became of a job");
      this.hosted = hosted;
    }

    HostedTablet hosted() {
      return hosted;
    }
  }

  /** An operation of a job's task cannot be applied before the job is known to be live. */
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
   * Returns normally if no file waits in the tablet, or if the outcomes of the jobs whose files
   * waited there were looked up once since the request arrived.
   *
   * @throws FilesPendingException if it must be looked up first
   */
  void check(HostedTablet hosted) {
    if (!hosted.tablet().pending().isEmpty() && !permitted.contains(hosted)) {
      throw new FilesPendingException(hosted);
    }
  }

  /**
   * Returns normally if the tablet has admitted {@code job}.
   *
   * @throws JobUnknownException if it must first be looked up whether the job is live
   */
  void checkJob(HostedTablet hosted, String job) {
    if (!hosted.tablet().jobs().admits(job)) {
      throw new JobUnknownException(hosted, job);
    }
  }

  /** Records that the outcomes of the jobs whose files wait in a tablet were looked up. */
  void permit(HostedTablet hosted) {
    List<HostedTablet> more = new ArrayList<>(permitted);
    more.add(hosted);
    permitted = more;
  }
}
