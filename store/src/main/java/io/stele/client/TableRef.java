package io.stele.client;

import io.stele.config.Keys;
import io.stele.metadata.Attempts;
import io.stele.metadata.Attempts.Effect;
import io.stele.metadata.Attempts.Purpose;
import io.stele.model.TableId;
import io.stele.runtime.Deadline;
import io.stele.runtime.ProcessRuntime;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/**
 * A table, as named by calls about it.
 *
 * @param waiting how its calls wait
 * @param id its id
 * @param name its name, for messages
 * @param timeout how long an operation on it is tried
 * @param once whether its rows are unlikely to be read again soon
 * @param pin the job at whose pins it is read; empty: as it is now
 */
record TableRef(
    Waiting waiting,
    TableId id,
    String name,
    Duration timeout,
    boolean once,
    Optional<String> pin) {
  /** A table as it is now. */
  TableRef(Waiting waiting, TableId id, String name, Duration timeout) {
    this(waiting, id, name, timeout, false, Optional.empty());
  }

  /** The table as that job has pinned it. */
  TableRef atPin(String job) {
    return new TableRef(waiting, id, name, timeout, once, Optional.of(job));
  }

  /** The table, read once. */
  TableRef readOnce() {
    return new TableRef(waiting, id, name, timeout, true, pin);
  }

  /** Whose clock counts. */
  ProcessRuntime runtime() {
    return waiting.runtime();
  }

  /** When an operation that begins now ends at the latest. */
  Deadline deadline() {
    return Deadline.after(runtime(), timeout);
  }

  /** The attempts at something that begins now; {@code what} is for messages. */
  Attempts attempts(Effect effect, Supplier<String> what) {
    return new Attempts(runtime(), purpose(effect, what), deadline());
  }

  /** Something done to it; {@code what} is for messages. */
  Purpose purpose(Effect effect, Supplier<String> what) {
    return Purpose.of(effect, what).limitedBy(Keys.CLIENT_TIMEOUT.name());
  }

  /** Waits for a change. */
  <T> T await(CompletableFuture<T> change) throws IOException {
    return waiting.await(
        change, "changing table " + name + ": whether the change was applied is unknown");
  }

  /** Waits for what changes nothing. */
  <T> T awaitRead(CompletableFuture<T> read) throws IOException {
    return waiting.await(read, "reading table " + name);
  }
}
