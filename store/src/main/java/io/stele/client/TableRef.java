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
 * @param limit how long an operation on it is tried
 * @param once whether its rows are unlikely to be read again soon
 * @param pin the job at whose pins it is read; empty: as it is now
 */
record TableRef(
    Waiting waiting, TableId id, String name, TimeLimit limit, boolean once, Optional<String> pin) {
  /**
   * A time limit.
   *
   * @param length of an operation, from its beginning
   * @param setBy what sets it, for messages
   */
  record TimeLimit(Duration length, String setBy) {}

  /** A table as it is now, with the connection's time limit. */
  TableRef(Waiting waiting, TableId id, String name, Duration timeout) {
    this(
        waiting,
        id,
        name,
        new TimeLimit(timeout, Keys.CLIENT_TIMEOUT.name()),
        false,
        Optional.empty());
  }

  /** The table with another time limit. */
  TableRef withTimeout(Duration timeout) {
    return new TableRef(waiting, id, name, new TimeLimit(timeout, "Table.withTimeout"), once, pin);
  }

  /** The table as that job has pinned it. */
  TableRef atPin(String job) {
    return new TableRef(waiting, id, name, limit, once, Optional.of(job));
  }

  /** The table, read once. */
  TableRef withoutCaching() {
    return new TableRef(waiting, id, name, limit, true, pin);
  }

  /** Whose clock counts. */
  ProcessRuntime runtime() {
    return waiting.runtime();
  }

  /** The deadline of an operation that begins now. */
  Deadline deadline() {
    return Deadline.after(runtime(), limit.length());
  }

  /** The attempts at something until {@code deadline}; {@code what} is for messages. */
  Attempts attempts(Effect effect, Supplier<String> what, Deadline deadline) {
    return new Attempts(runtime(), purpose(effect, what), deadline);
  }

  /** Something done to it; {@code what} is for messages. */
  Purpose purpose(Effect effect, Supplier<String> what) {
    return Purpose.of(effect, what).limitedBy(limit.setBy());
  }

  /** Waits for a change. */
  <T> T await(CompletableFuture<T> change) throws IOException {
    return waiting.await(
        change,
        "changing table " + name + ": whether the change was applied is unknown",
        noAnswerYet());
  }

  /** Waits for what changes nothing. */
  <T> T awaitRead(CompletableFuture<T> read) throws IOException {
    return waiting.await(read, "reading table " + name, noAnswerYet());
  }

  private String noAnswerYet() {
    return "no server of table "
        + name
        + " answers yet; waiting up to "
        + limit.length().plusMillis(999).toSeconds()
        + " s (`stele status` shows what is not served)";
  }
}
