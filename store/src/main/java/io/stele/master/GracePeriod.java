package io.stele.master;

import io.stele.runtime.ProcessRuntime;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * For how long files have been unneeded, as one sweeper has seen it: by its own clock, from sweep
 * to sweep. The period of a file that is needed again starts over. Not safe for use by several
 * threads at once.
 */
final class GracePeriod {
  private final ProcessRuntime runtime;
  private final Duration grace;
  private final Map<String, Long> sinceNanos = new HashMap<>();
  private final Set<String> seen = new HashSet<>(); // In this sweep.

  GracePeriod(ProcessRuntime runtime, Duration grace) {
    this.runtime = runtime;
    this.grace = grace;
  }

  /** Begins a sweep, at whose mark these files are needed. */
  void beginSweep(Set<String> needed) {
    seen.clear();
    sinceNanos.keySet().removeIf(needed::contains);
  }

  /** Notes that a file is not needed; returns whether that has been so for the whole period. */
  boolean hasPassed(String unneeded) {
    seen.add(unneeded);
    long now = runtime.nanoTime();
    long since = sinceNanos.computeIfAbsent(unneeded, first -> now);
    return now - since >= grace.toNanos();
  }

  /**
   * Ends a sweep: forgets the files that were not reported as unneeded during it. Of those whose
   * directory could not be read, the period begins again.
   */
  void endSweep() {
    sinceNanos.keySet().retainAll(seen);
  }
}
