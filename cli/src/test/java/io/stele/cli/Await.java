package io.stele.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.model.SteleException;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;

/** Waits for what other processes do, which tell nobody. */
public final class Await {
  private static final long LOOK_EVERY_MILLIS = 50;

  private Await() {}

  /**
   * Looks until {@code condition} holds.
   *
   * @param limit how long at most; after it the test fails
   * @param what what is waited for, for people
   */
  public static void until(Duration limit, String what, Callable<Boolean> condition)
      throws Exception {
    long deadline = System.nanoTime() + limit.toNanos();
    while (!condition.call()) {
      assertThat(System.nanoTime())
          .as("the end of %s of waiting for %s", limit, what)
          .isLessThan(deadline);
      Thread.sleep(LOOK_EVERY_MILLIS);
    }
  }

  /** As {@link #until}, but a condition that cannot be looked at now does not hold yet. */
  static void untilAnswered(Duration limit, String what, Callable<Boolean> condition)
      throws Exception {
    List<Exception> failures = new ArrayList<>();
    try {
      until(
          limit,
          what,
          () -> {
            try {
              return condition.call();
            } catch (IOException | SteleException e) {
              failures.clear();
              failures.add(e);
              return false;
            }
          });
    } catch (AssertionError e) {
      failures.forEach(e::addSuppressed);
      throw e;
    }
  }
}
