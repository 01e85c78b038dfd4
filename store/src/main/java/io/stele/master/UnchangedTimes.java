package io.stele.master;

import io.stele.runtime.Durations;
import io.stele.runtime.ProcessRuntime;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;

/**
 * For how long values have been unchanged, by name. Of the time between two looks at a value only
 * so much counts as is usual: a value cannot be renewed while nobody is there to look.
 *
 * <p>For one thread.
 */
final class UnchangedTimes<T> {
  private final ProcessRuntime runtime;
  private final Duration countedMax;
  private final Map<String, Look<T>> last = new HashMap<>();

  /** A value as it was at the last look, and for how long it had been unchanged. */
  private record Look<T>(T value, long nanos, Duration unchanged) {}

  /**
   * No values yet.
   *
   * @param countedMax how much of the time between two looks counts at most
   */
  UnchangedTimes(ProcessRuntime runtime, Duration countedMax) {
    this.runtime = runtime;
    this.countedMax = countedMax;
  }

  /** Takes in a value as it is now; returns for how long it has been unchanged. */
  Duration update(String name, T value) {
    Look<T> before = last.get(name);
    if (before == null || !before.value().equals(value)) {
      restart(name, value);
      return Duration.ZERO;
    }
    long now = runtime.nanoTime();
    Duration passed = Duration.ofNanos(now - before.nanos());
    Duration unchanged = before.unchanged().plus(Durations.min(passed, countedMax));
    last.put(name, new Look<>(value, now, unchanged));
    return unchanged;
  }

  /** Takes a value for changed just now. */
  void restart(String name, T value) {
    last.put(name, new Look<>(value, runtime.nanoTime(), Duration.ZERO));
  }

  /** Forgets a value. */
  void forget(String name) {
    last.remove(name);
  }

  /** Forgets all values but those of these names. */
  void retain(Collection<String> names) {
    last.keySet().retainAll(names);
  }
}
