package io.stele.tabletserver;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The steps that undo a start, last first, when the start fails or the server stops. Each step runs
 * once. Safe for use by any number of threads.
 */
final class Teardown {
  private static final Logger LOG = LoggerFactory.getLogger(Teardown.class);

  @GuardedBy("steps")
  private final Deque<Runnable> steps = new ArrayDeque<>();

  /** Adds a step to {@link #run}. */
  void add(Runnable step) {
    synchronized (steps) {
      steps.push(step);
    }
  }

  /** Takes all steps; one that fails does not keep the others from being taken. */
  void run() {
    for (Optional<Runnable> step = next(); step.isPresent(); step = next()) {
      try {
        step.get().run();
      } catch (RuntimeException e) {
        LOG.warn("Something could not be closed while the server stops", e);
      }
    }
  }

  private Optional<Runnable> next() {
    synchronized (steps) {
      return Optional.ofNullable(steps.poll());
    }
  }
}
