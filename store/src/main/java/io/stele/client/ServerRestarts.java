package io.stele.client;

import io.stele.metadata.Attempts;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.runtime.Deadline;
import io.stele.wire.control.ControlProtos.DrainRequestProto;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;

/**
 * Restarts of tablet servers under load: each gives its tablets away before it ends.
 *
 * <p>Safe for use by any number of threads.
 */
final class ServerRestarts {
  private static final Duration LOOK = Duration.ofMillis(200);

  private final ClusterCalls calls;

  ServerRestarts(ClusterCalls calls) {
    this.calls = calls;
  }

  /** See {@link Admin#restartServer}. */
  void restart(ServerId server, Duration timeout) throws IOException {
    Deadline deadline = Deadline.after(calls.connection().runtime(), timeout);
    long wanted = taking(StatusReader.read(calls));
    DrainRequestProto request = DrainRequestProto.getDefaultInstance();
    calls.call(server, one -> one.drain(null, request));
    while (true) {
      Optional<String> left = left(server, wanted);
      if (left.isEmpty()) {
        return;
      }
      if (deadline.isOver()) {
        throw new SteleException(
            SteleException.Code.OUTCOME_UNKNOWN,
            "restarting server "
                + server
                + ": not done within "
                + timeout.toSeconds()
                + " s: "
                + left.get()
                + ". `stele server list` and `stele status` show how it goes on");
      }
      calls.pause(LOOK);
    }
  }

  /** What is still to come; empty: nothing. */
  private Optional<String> left(ServerId server, long wanted) throws IOException {
    ClusterStatus now;
    try {
      now = StatusReader.read(calls);
    } catch (SteleException e) {
      if (Attempts.isInterruption(e) || e.code() != SteleException.Code.RETRY_LATER) {
        throw e;
      }
      return Optional.of(String.valueOf(e.getMessage()));
    }
    if (now.servers().stream().anyMatch(one -> one.id().equals(server))) {
      return Optional.of("it still has tablets, or is ending");
    }
    if (taking(now) < wanted) {
      return Optional.of("it has ended, and nobody has started another in its place yet");
    }
    return now.unassigned() > 0
        ? Optional.of(now.unassigned() + " tablets are not served yet")
        : Optional.empty();
  }

  /** How many servers take tablets. */
  private static long taking(ClusterStatus status) {
    return status.servers().stream().filter(server -> !server.draining()).count();
  }
}
