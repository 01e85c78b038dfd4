package io.stele.cli;

import io.stele.client.ClusterChange;
import java.io.IOException;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.Optional;
import picocli.CommandLine.Option;

/** How to wait for a change of tablets. */
final class WaitOptions {
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

  /** The same; returns what came of it, if it was waited for. */
  Optional<ClusterChange.Progress> finish(ClusterChange change, PrintWriter out)
      throws IOException {
    if (noWait) {
      out.println("Begun: " + change + ". Now: " + change.progress());
      return Optional.empty();
    }
    return Optional.of(most.isPresent() ? change.await(most.get()) : change.await());
  }
}
