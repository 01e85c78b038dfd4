package io.stele.yarn;

import io.stele.client.Stele;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.runtime.Deadline;
import io.stele.runtime.Futures;
import io.stele.runtime.ProcessRuntime;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.apache.hadoop.conf.Configuration;

/**
 * Replaces the outdated processes of an application: restarts its tablet servers one after another,
 * and waits until the ApplicationMaster has then replaced the masters. What is outdated the
 * ApplicationMaster knows, so an upgrade that was broken off goes on where it was.
 *
 * <p>For use by one thread.
 */
final class RollingUpgrade {
  private static final Duration POLL = Duration.ofMillis(250);

  /** Reads the application's status. */
  interface StatusSource {
    ApplicationStatus read() throws IOException;
  }

  /** Finds the tablet server in a container, once it has registered itself. */
  interface ServerSource {
    Optional<ServerId> serverIn(String container) throws IOException;
  }

  private final ProcessRuntime runtime;
  private final StatusSource statuses;
  private final ServerSource servers;
  private final Consumer<String> progress;
  private final StatusLines lines;

  RollingUpgrade(
      ProcessRuntime runtime,
      StatusSource statuses,
      ServerSource servers,
      Consumer<String> progress) {
    this.runtime = runtime;
    this.statuses = statuses;
    this.servers = servers;
    this.progress = progress;
    this.lines = new StatusLines(progress);
  }

  /**
   * Returns when every process is of the new deployment and runs.
   *
   * @param patience how long one process may take
   * @throws SteleException RETRY_LATER if one takes longer, REFUSED if a tablet server cannot give
   *     its tablets away or the application has ended
   */
  void run(Configuration conf, Duration patience) throws IOException {
    try (Stele stele = Stele.connect(conf)) {
      Deadline deadline = Deadline.after(runtime, patience);
      List<String> before = List.of();
      while (true) {
        ApplicationStatus status = statuses.read();
        lines.show(status);
        List<ComponentStatus> outdated =
            status.components().stream().filter(ComponentStatus::outdated).toList();
        if (outdated.isEmpty() && status.complete()) {
          return;
        }
        Optional<ServerId> next = nextTabletServer(outdated);
        List<String> left = outdated.stream().map(ComponentStatus::container).toList();
        if (!left.equals(before)) {
          before = left;
          deadline = Deadline.after(runtime, patience);
        }
        if (next.isPresent()) {
          stele.admin().restartServer(next.get(), patience);
          progress.accept(next.get().hostAndPort() + " has ended, and another has taken its place");
        }
        check(status, outdated, deadline, patience);
        pause();
      }
    }
  }

  /** The first outdated tablet server; empty if it is starting or has just ended, too. */
  private Optional<ServerId> nextTabletServer(List<ComponentStatus> outdated) throws IOException {
    Optional<ComponentStatus> first =
        outdated.stream().filter(c -> c.isOf(ComponentKind.TABLET_SERVER)).findFirst();
    return first.isPresent() ? servers.serverIn(first.get().container()) : Optional.empty();
  }

  private static void check(
      ApplicationStatus status,
      List<ComponentStatus> outdated,
      Deadline deadline,
      Duration patience) {
    if (!status.alive()) {
      throw SteleException.refused(
          status.id() + " is " + status.state() + ": " + status.diagnostics().strip());
    }
    if (deadline.isOver()) {
      List<String> left = outdated.stream().map(ComponentStatus::id).toList();
      throw SteleException.retryLater(
          "nothing was replaced for "
              + patience.toSeconds()
              + " s; "
              + (left.isEmpty() ? "not every process runs" : "these have yet to be: " + left)
              + ". 'stele yarn status' shows more; run the upgrade again to go on");
    }
  }

  private void pause() throws InterruptedIOException {
    try {
      runtime.sleep(POLL);
    } catch (InterruptedException e) {
      throw Futures.interrupted(e, "the upgrade is not complete; run it again to go on");
    }
  }
}
