package io.stele.yarn;

import io.stele.model.SteleException;
import io.stele.runtime.Deadline;
import io.stele.runtime.Futures;
import io.stele.runtime.IoCallable;
import io.stele.runtime.ProcessRuntime;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.apache.hadoop.yarn.api.records.YarnApplicationState;

/**
 * Waits until an application that was submitted serves: every component runs, and a master answers.
 * Tells how components fail meanwhile, and what it waits for if that takes long. For use by one
 * thread.
 */
final class Startup {
  private static final Duration POLL = Duration.ofMillis(250);

  /** A start that takes longer needs an explanation. */
  static final Duration LONG = Duration.ofSeconds(10);

  /** An explanation that is still true is given again after this time. */
  static final Duration AGAIN = Duration.ofMinutes(1);

  private final ProcessRuntime runtime;
  private final IoCallable<ApplicationStatus> statuses;
  private final IoCallable<Optional<String>> master;
  private final Consumer<String> progress;
  private final StatusLines lines;
  private String said = "";
  private Duration saidAt = Duration.ZERO;

  /**
   * A start that is to be waited for.
   *
   * @param statuses reads the application's status
   * @param master says why no master answers; empty if one does
   * @param progress takes lines for people
   */
  Startup(
      ProcessRuntime runtime,
      IoCallable<ApplicationStatus> statuses,
      IoCallable<Optional<String>> master,
      Consumer<String> progress) {
    this.runtime = runtime;
    this.statuses = statuses;
    this.master = master;
    this.progress = progress;
    this.lines = new StatusLines(progress);
  }

  /**
   * Waits.
   *
   * @throws SteleException REFUSED if the application ends, RETRY_LATER if the time is up
   */
  void await(Duration timeout) throws IOException {
    Deadline deadline = Deadline.after(runtime, timeout);
    long begun = runtime.nanoTime();
    while (true) {
      ApplicationStatus status = statuses.call();
      lines.showFailures(status);
      if (!status.alive()) {
        throw SteleException.refused(
            status.id() + " is " + status.state() + ": " + status.diagnostics().strip());
      }
      Optional<String> missing = status.complete() ? master.call() : Optional.empty();
      if (status.complete() && missing.isEmpty()) {
        return;
      }
      sayWhatIsMissing(
          missing
              .map("waiting until a master answers: "::concat)
              .orElseGet(() -> status.id() + " is " + status.state() + waitingFor(status)),
          Duration.ofNanos(runtime.nanoTime() - begun));
      if (deadline.isOver()) {
        throw SteleException.retryLater(
            status.id()
                + " is "
                + status.state()
                + " but "
                + (missing.isPresent() ? "no master answers" : "not all servers run")
                + " after "
                + timeout.toSeconds()
                + " s"
                + missing.map(": "::concat).orElseGet(() -> waitingFor(status))
                + failures(status)
                + ". It stays submitted: 'stele yarn status' shows more, 'stele yarn stop' stops"
                + " it");
      }
      pause();
    }
  }

  private void sayWhatIsMissing(String line, Duration elapsed) {
    Duration pause = line.equals(said) ? AGAIN : LONG;
    if (elapsed.minus(saidAt).compareTo(pause) >= 0) {
      said = line;
      saidAt = elapsed;
      progress.accept("after " + elapsed.toSeconds() + " s: " + line);
    }
  }

  private static String waitingFor(ApplicationStatus status) {
    if (status.state().equals(YarnApplicationState.ACCEPTED.name())) {
      return ": " + status.withoutMaster();
    }
    List<String> missing = new ArrayList<>();
    List<ComponentStatus> waiting =
        status.components().stream().filter(component -> !component.running()).toList();
    for (AlikeComponents alike : AlikeComponents.of(waiting)) {
      ComponentStatus component = alike.first();
      missing.add(
          alike.names()
              + " "
              + component.state()
              + (component.note().isEmpty() ? "" : " (" + component.note() + ")"));
    }
    if (!status.reachable() && !status.diagnostics().isBlank()) {
      missing.add(status.diagnostics().strip());
    }
    return missing.isEmpty() ? "" : ": " + String.join("; ", missing);
  }

  private static String failures(ApplicationStatus status) {
    StringBuilder text = new StringBuilder();
    for (ComponentStatus component : status.components()) {
      if (!component.lastExit().isEmpty()) {
        text.append(". ").append(StatusLines.failure(status, component));
      }
    }
    return text.toString();
  }

  private void pause() throws IOException {
    try {
      runtime.sleep(POLL);
    } catch (InterruptedException e) {
      throw Futures.interrupted(e, "the application stays as it is");
    }
  }
}
