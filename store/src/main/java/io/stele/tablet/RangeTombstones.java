package io.stele.tablet;

import java.util.Arrays;
import java.util.Comparator;
import java.util.stream.IntStream;

/**
 * The tombstones of time ranges of one column: which was the first, after some moment, over a
 * timestamp. They are added the newest first, and then asked about in the order of versions, from
 * the greatest timestamp down.
 *
 * <p>A few are searched one by one. If there are many, a sweep over the timestamps knows which of
 * them are over the present one, as bits in their order: so each question costs a few steps,
 * however many tombstones there are. Not safe for use by several threads.
 */
final class RangeTombstones {
  /** Below this, the sweep would cost more than it saves. */
  private static final int FEW = 32;

  private static final int[] NONE = {};

  private int count;
  private long[] from = new long[4];
  private long[] to = new long[4];
  private long[] sequence = new long[4];
  private int[] ordinal = new int[4];

  // The sweep; not begun if `byTo` has another length than `count`.
  private int[] byTo = NONE;
  private int[] byFrom = NONE;
  private int begun; // So many of `byTo` reach above the present timestamp, or to it.
  private int reaching; // So many reach above it.
  private int ended; // So many of `byFrom` begin above it.
  private final IndexSet over = new IndexSet(); // Those over the present timestamp.
  private final IndexSet above = new IndexSet(); // Those that reach above it.
  private long steps;

  /** Removes all. */
  void clear() {
    count = 0;
    byTo = NONE;
  }

  /** Adds a tombstone of [{@code start}, {@code end}), older than those before. */
  void add(long start, long end, long at, int ordinalThen) {
    if (count == from.length) {
      from = Arrays.copyOf(from, count * 2);
      to = Arrays.copyOf(to, count * 2);
      sequence = Arrays.copyOf(sequence, count * 2);
      ordinal = Arrays.copyOf(ordinal, count * 2);
    }
    from[count] = start;
    to[count] = end;
    sequence[count] = at;
    ordinal[count] = ordinalThen;
    count++;
  }

  /**
   * The sequence number of the first tombstone over a timestamp after that moment; {@link
   * Long#MAX_VALUE} if there is none.
   */
  long firstOver(long timestamp, long then, int ordinalThen) {
    if (count < FEW) {
      for (int i = count - 1; i >= 0; i--) {
        steps++;
        if (isLater(i, then, ordinalThen) && from[i] <= timestamp && timestamp < to[i]) {
          return sequence[i];
        }
      }
      return Long.MAX_VALUE;
    }
    sweepTo(timestamp);
    return numberOf(over.last(later(then, ordinalThen)));
  }

  /**
   * The sequence number of the first tombstone of a later operation that is over a timestamp
   * greater than this; {@link Long#MAX_VALUE} if there is none.
   */
  long firstAbove(long timestamp, long then) {
    if (count < FEW) {
      for (int i = count - 1; i >= 0; i--) {
        steps++;
        if (sequence[i] > then && to[i] - 1 > timestamp) {
          return sequence[i];
        }
      }
      return Long.MAX_VALUE;
    }
    sweepTo(timestamp);
    return numberOf(above.last(later(then, Integer.MAX_VALUE)));
  }

  /** How many tombstones, or sets of them, were looked at, ever. */
  long steps() {
    return steps + over.steps + above.steps;
  }

  private long numberOf(int index) {
    return index < 0 ? Long.MAX_VALUE : sequence[index];
  }

  private boolean isLater(int index, long then, int ordinalThen) {
    return sequence[index] > then || (sequence[index] == then && ordinal[index] > ordinalThen);
  }

  /** How many are later; these are the first. */
  private int later(long then, int ordinalThen) {
    int low = 0;
    int high = count;
    while (low < high) {
      steps++;
      int middle = (low + high) >>> 1;
      if (isLater(middle, then, ordinalThen)) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  private void sweepTo(long timestamp) {
    if (byTo.length != count) {
      byTo = descending(Comparator.comparingLong(i -> to[i]));
      byFrom = descending(Comparator.comparingLong(i -> from[i]));
      begun = 0;
      reaching = 0;
      ended = 0;
      over.clear(count);
      above.clear(count);
    }
    for (; begun < count && to[byTo[begun]] > timestamp; begun++) {
      steps++;
      over.add(byTo[begun]);
    }
    for (; reaching < count && to[byTo[reaching]] - 1 > timestamp; reaching++) {
      steps++;
      above.add(byTo[reaching]);
    }
    for (; ended < count && from[byFrom[ended]] > timestamp; ended++) {
      steps++;
      over.remove(byFrom[ended]); // It has begun: it ends above where it begins.
    }
  }

  private int[] descending(Comparator<Integer> order) {
    return IntStream.range(0, count)
        .boxed()
        .sorted(order.reversed())
        .mapToInt(Integer::intValue)
        .toArray();
  }

  /** A set of small numbers; level by level, a bit for each word of the level below. */
  private static final class IndexSet {
    private static final int WORD = 6; // A word has so many bits, as a power of two.
    private static final int LEVELS = 6; // For any index.

    private final long[][] levels = new long[LEVELS][];
    private long steps;

    /** Makes it empty, for numbers below {@code size}. */
    void clear(int size) {
      int length = size;
      for (int level = 0; level < LEVELS; level++) {
        length = (length >> WORD) + 1;
        levels[level] = new long[length];
      }
    }

    void add(int index) {
      int at = index;
      for (long[] words : levels) {
        words[at >> WORD] |= 1L << at;
        at >>= WORD;
      }
    }

    void remove(int index) {
      int at = index;
      for (long[] words : levels) {
        words[at >> WORD] &= ~(1L << at);
        if (words[at >> WORD] != 0) {
          return;
        }
        at >>= WORD;
      }
    }

    /** The greatest number below {@code end}; -1 if there is none. */
    int last(int end) {
      int at = end;
      for (int level = 0; level < LEVELS; level++) {
        steps++;
        int bit = at & ((1 << WORD) - 1);
        long before = levels[level][at >> WORD] & ((1L << bit) - 1);
        if (before != 0) {
          int found = (at & -(1 << WORD)) + Long.SIZE - 1 - Long.numberOfLeadingZeros(before);
          for (int below = level - 1; below >= 0; below--) {
            steps++;
            found =
                (found << WORD) + Long.SIZE - 1 - Long.numberOfLeadingZeros(levels[below][found]);
          }
          return found;
        }
        at >>= WORD;
      }
      return -1;
    }
  }
}
