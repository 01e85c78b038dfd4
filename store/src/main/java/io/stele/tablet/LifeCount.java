package io.stele.tablet;

import java.util.Arrays;

/**
 * How many versions lived at each moment, as steps from the last moment down; steps at or below the
 * last moment with enough of them are forgotten.
 *
 * <pre>
 *   step 0:   from[0] .. end of time     counts[0]
 *   step i:   from[i] .. from[i-1] - 1   counts[i]
 * </pre>
 *
 * Not safe for use by several threads.
 */
final class LifeCount {
  private long[] from = new long[8];
  private int[] counts = new int[8];
  private int steps;

  LifeCount() {
    clear();
  }

  /** Forgets all lives. */
  void clear() {
    steps = 1;
    from[0] = 0;
    counts[0] = 0;
  }

  /**
   * Adds a life from {@code start} to before {@code end} ({@link Long#MAX_VALUE}: it has no end).
   *
   * @return the last moment at which {@code enough} versions lived because of this life; -1 where
   *     there is none
   */
  long add(long start, long end, int enough) {
    if (end <= from[steps - 1]) {
      return -1; // All of it is in the part that is forgotten.
    }
    int first = end == Long.MAX_VALUE ? 0 : stepFrom(end) + 1;
    int last = stepFrom(Math.max(start, from[steps - 1]));
    for (int i = first; i <= last; i++) {
      counts[i]++;
      if (counts[i] >= enough) {
        return forgetBelow(i);
      }
    }
    return -1;
  }

  /** Forgets step {@code i} and all below, and returns the last moment of step {@code i}. */
  private long forgetBelow(int i) {
    if (i == 0) {
      from[0] = Long.MAX_VALUE;
      steps = 1;
      return Long.MAX_VALUE;
    }
    steps = i;
    return from[i - 1] - 1;
  }

  /**
   * The step that begins at {@code moment}, which lies in the part that is kept; made if need be.
   */
  private int stepFrom(long moment) {
    int low = 0;
    int high = steps - 1;
    while (low < high) { // The first step that begins at or before the moment.
      int middle = (low + high) >>> 1;
      if (from[middle] <= moment) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    if (from[low] == moment) {
      return low;
    }
    if (steps == from.length) {
      from = Arrays.copyOf(from, steps * 2);
      counts = Arrays.copyOf(counts, steps * 2);
    }
    System.arraycopy(from, low, from, low + 1, steps - low);
    System.arraycopy(counts, low, counts, low + 1, steps - low);
    from[low] = moment;
    steps++;
    return low;
  }
}
