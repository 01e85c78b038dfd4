package io.stele.sim;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Decides what happens to a process when it reaches one of its next steps.
 *
 * <p>For the holder of the simulation's baton alone.
 */
final class Traps {
  private static final class Trap {
    final Step step;
    final Runnable action;
    int left;

    Trap(Step step, int left, Runnable action) {
      this.step = step;
      this.left = left;
      this.action = action;
    }
  }

  private final List<Trap> traps = new ArrayList<>();

  /** Runs {@code action} at the {@code nth} such step from now on. */
  void set(Step step, int nth, Runnable action) {
    traps.add(new Trap(step, nth, action));
  }

  /** Forgets all of them. */
  void clear() {
    traps.clear();
  }

  /** The process comes to {@code step}: what happens to it there. */
  Optional<Runnable> at(Step step) {
    for (Trap trap : traps) {
      if (trap.step == step && --trap.left == 0) {
        traps.remove(trap);
        return Optional.of(trap.action);
      }
    }
    return Optional.empty();
  }
}
