package io.stele.yarn;

import io.stele.runtime.Deadline;
import io.stele.runtime.Futures;
import io.stele.runtime.ProcessRuntime;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Consumer;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.ApplicationReport;
import org.apache.hadoop.yarn.api.records.FinalApplicationStatus;
import org.apache.hadoop.yarn.api.records.YarnApplicationState;

/**
 * Asks an application to stop, waits until it has, and has YARN kill it when the time is up. How
 * many of its servers were not drained is in the state that its last ApplicationMaster has saved,
 * and in what that last answered. The number only grows, and either may be the older one: HDFS may
 * take no writes, or nobody answer. So the larger one counts.
 *
 * <p>For use by one thread, once.
 */
final class ApplicationStop {
  private static final Duration POLL = Duration.ofMillis(250);

  private final ProcessRuntime runtime;
  private final Application application;
  private final Consumer<String> progress;
  private final StatusLines lines;

  /** Whether the ApplicationMaster has promised to stop. */
  private boolean asked;

  private boolean killed;

  /** Whether an ApplicationMaster has run, as far as is known. */
  private boolean begun = true;

  /** As its ApplicationMaster last answered; empty if it never did. */
  private Optional<ApplicationStatus> answered = Optional.empty();

  /** The application that is to stop. Calls block. */
  interface Application {
    ApplicationId id();

    /**
     * What YARN knows of it; empty if no ResourceManager answers now.
     *
     * @param isLast whether that is thrown instead
     */
    Optional<ApplicationReport> report(boolean isLast) throws IOException;

    ApplicationStatus status(ApplicationReport report);

    /** Whether no ApplicationMaster of it has run, so there is nothing to stop in order. */
    boolean neverRan(ApplicationReport report);

    /**
     * Asks its ApplicationMaster to stop it.
     *
     * @param timeout in which servers give their tablets away, and end
     * @return whether it will, even if it restarts: otherwise it is to be asked again
     */
    boolean stop(ApplicationReport report, Duration timeout);

    /** Tells YARN to kill it. */
    void kill() throws IOException;

    /**
     * How many tablet servers ended without being drained, as its last ApplicationMaster saved it;
     * empty if that cannot be read.
     *
     * @param applicationName as it was called at its start
     */
    OptionalInt savedNotDrained(String applicationName) throws IOException;
  }

  /**
   * @param progress gets a line of text for each thing that happens
   */
  ApplicationStop(ProcessRuntime runtime, Application application, Consumer<String> progress) {
    this.runtime = runtime;
    this.application = application;
    this.progress = progress;
    this.lines = new StatusLines(progress);
  }

  /** Returns when the application has ended, after {@code timeout} by YARN's hand. */
  StopOutcome await(Duration timeout) throws IOException {
    Deadline deadline = Deadline.after(runtime, timeout);
    while (true) {
      Optional<ApplicationReport> known = application.report(deadline.isOver());
      if (known.isPresent()) {
        ApplicationReport report = known.get();
        if (!ClusterApplications.ALIVE.contains(report.getYarnApplicationState())) {
          progress.accept(application.id() + " is " + report.getYarnApplicationState());
          return outcomeOf(report);
        }
        goOn(report, deadline.remaining());
        if (deadline.isOver() && !killed) {
          progress.accept(
              application.id()
                  + " has not ended within "
                  + timeout.toSeconds()
                  + " s: telling YARN to kill it");
          kill();
        }
      }
      pause();
    }
  }

  private void goOn(ApplicationReport report, Duration timeLeft) throws IOException {
    if (report.getYarnApplicationState() == YarnApplicationState.RUNNING) {
      if (!asked && !killed && application.stop(report, timeLeft)) {
        asked = true;
        progress.accept("asked " + application.id() + " to stop");
      }
      ApplicationStatus status = application.status(report);
      if (status.reachable()) {
        answered = Optional.of(status);
      }
      lines.show(status);
    } else if (!asked && !killed && application.neverRan(report)) {
      begun = false;
      progress.accept(application.id() + " is not running yet: telling YARN to kill it");
      kill();
    }
  }

  private void kill() throws IOException {
    application.kill();
    killed = true;
  }

  private StopOutcome outcomeOf(ApplicationReport report) throws IOException {
    if (!begun) {
      return new StopOutcome(true, 0);
    }
    boolean inOrder =
        report.getYarnApplicationState() == YarnApplicationState.FINISHED
            && report.getFinalApplicationStatus() == FinalApplicationStatus.SUCCEEDED;
    int notDrained = answered.map(ApplicationStatus::notDrained).orElse(0);
    if (!inOrder) {
      // Those that still ran were not drained either.
      notDrained += answered.map(status -> status.of(ComponentKind.TABLET_SERVER).size()).orElse(0);
    }
    int saved = application.savedNotDrained(report.getName()).orElse(0);
    return new StopOutcome(inOrder, Math.max(notDrained, saved));
  }

  private void pause() throws InterruptedIOException {
    try {
      runtime.sleep(POLL);
    } catch (InterruptedException e) {
      throw Futures.interrupted(e, "the application stays as it is");
    }
  }
}
