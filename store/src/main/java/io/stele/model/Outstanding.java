package io.stele.model;

import java.time.Duration;
import java.util.Optional;

/**
 * What a client says, with each request, of its operations that it may still send or send again.
 *
 * @param firstIncomplete the lowest number of these; what is below may be forgotten, and is refused
 * @param age for how long that one has been under way, by the client's own clocks; empty: another
 *     process may have sent it before, nobody knows when
 * @param task of one whose records another attempt may send again: how far it has come
 */
public record Outstanding(
    long firstIncomplete, Optional<Duration> age, Optional<TaskProgress> task) {
  /** Of a client that is no task. */
  public Outstanding(long firstIncomplete, Optional<Duration> age) {
    this(firstIncomplete, age, Optional.empty());
  }

  /** Of operations that begin with the first of these, now. */
  public static Outstanding from(long firstIncomplete) {
    return new Outstanding(firstIncomplete, Optional.of(Duration.ZERO));
  }
}
