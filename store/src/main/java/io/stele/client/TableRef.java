package io.stele.client;

import io.stele.model.TableId;
import io.stele.runtime.Deadline;
import io.stele.runtime.Futures;
import io.stele.runtime.ProcessRuntime;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/**
 * A table as calls about it name it.
 *
 * @param runtime whose clock counts
 * @param id its id
 * @param name its name, for messages
 * @param timeout how long an operation on it is tried
 */
record TableRef(ProcessRuntime runtime, TableId id, String name, Duration timeout) {
  /** When an operation that begins now ends at the latest. */
  Deadline deadline() {
    return Deadline.after(runtime, timeout);
  }

  /** Waits for {@code future}. */
  <T> T await(CompletableFuture<T> future) throws IOException {
    return Futures.await(
        runtime, future, "waiting for table " + name + ": whether a change was applied is unknown");
  }
}
