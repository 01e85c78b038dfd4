package io.stele.cli;

import io.stele.client.ClusterChange;
import io.stele.runtime.Deadline;
import io.stele.runtime.Durations;
import io.stele.runtime.SystemRuntime;
import java.io.IOException;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.Optional;
import picocli.CommandLine.Option;

/** How to wait for a change of tablets. */
final class WaitOptions {
  private static final Duration LOOK_FIRST = Duration.ofMillis(20);
  private static final Duration LOOK_MOST = Duration.ofSeconds(1);
  private static final Duration SHOW_EVERY = Duration.ofSeconds(10);

  @Option(names = "--no-wait", description = "Do not wait: return as soon as the change has begun.")
  private boolean noWait;

  private Optional<Duration> most = Optional.empty();

  /** The same, with a time to wait at most; otherwise {@code stele.client.timeout} is. */
  WaitOptions within(Duration time) {
    most = Optional.of(time);
    return this;
  }

  /**
   * Waits for the change, unless it is not to be waited for.
   *
   * @param done what to print when it is made
   */
  void finish(ClusterChange change, String done, PrintWriter out) throws IOException {
    if (finish(change, out).isPresent()) {
      out.println(done);
    }
  }

  private static Duration longer(Duration pause) {
    Duration twice = pause.multipliedBy(2);
    return Durations.min(twice, LOOK_MOST);
  }

  /** The same; returns what came of it, if it was waited for. */
  Optional<ClusterChange.Progress> finish(ClusterChange change, PrintWriter out)
      throws IOException {
    if (noWait) {
      out.println("Begun: " + change + ". Now: " + change.progress());
      return Optional.empty();
    }
    return Optional.of(most.isPresent() ? change.await(most.get()) : change.await());
  }

  /**
   * Waits for a change as long as it takes, unless it is not to be waited for, and shows its
   * progress now and then.
   *
   * @param done what to print when it is made
   */
  void finishShowing(ClusterChange change, String done, PrintWriter out)
      throws IOException, InterruptedException {
    if (noWait) {
      finish(change, out);
      return;
    }
    Deadline quiet = Deadline.after(SystemRuntime.INSTANCE, SHOW_EVERY);
    ClusterChange.Progress now = change.progress();
    for (Duration pause = LOOK_FIRST; !now.done(); pause = longer(pause)) {
      SystemRuntime.INSTANCE.sleep(pause);
      now = change.progress();
      if (!now.done() && quiet.isOver()) {
        out.println(now);
        out.flush();
        quiet = Deadline.after(SystemRuntime.INSTANCE, SHOW_EVERY);
      }
    }
    out.println(done);
  }
}
