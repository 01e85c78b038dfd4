package io.stele.model;

import java.time.Duration;
import java.util.Optional;

/**
 * What a client states with each request about the operations that it may still send or send again.
 *
 * @param firstIncomplete the lowest number of these; operations below it may be forgotten, and are
 *     refused
 * @param age how long that operation has been under way, by the client's own clocks; empty: another
 *     process may have sent it before, at an unknown time
 * @param task the progress of a task whose records another attempt may send again
 */
public record Outstanding(
    long firstIncomplete, Optional<Duration> age, Optional<TaskProgress> task) {
  /** The statement of a client that is not a task. */
  public Outstanding(long firstIncomplete, Optional<Duration> age) {
    this(firstIncomplete, age, Optional.empty());
  }

  /** The statement of a client whose operations begin now, with {@code firstIncomplete}. */
  public static Outstanding from(long firstIncomplete) {
    return new Outstanding(firstIncomplete, Optional.of(Duration.ZERO));
  }
}
