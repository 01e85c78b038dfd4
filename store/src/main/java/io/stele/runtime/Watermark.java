package io.stele.runtime;

import java.util.BitSet;

/**
 * Ascending numbers that begin in order and end in any order, and the lowest that has not ended.
 * Takes a bit of memory for each number from that one on.
 *
 * <p>Not safe for use by several threads at once.
 */
public final class Watermark {
  private static final int FORGOTTEN_AT_ONCE = 1 << 16;

  private BitSet ended = new BitSet(); // The first bit is for the number at origin.
  private long origin;
  private long lowest;
  private long next;

  /** A watermark of which no number has begun; {@code first} will be the first. */
  public Watermark(long first) {
    this.origin = first;
    this.lowest = first;
    this.next = first;
  }

  /** Begins the next number. */
  public long begin() {
    return next++;
  }

  /**
   * Ends a number; does nothing if it has ended.
   *
   * @throws IllegalArgumentException if it has not begun
   */
  public void end(long number) {
    if (number >= next) {
      throw new IllegalArgumentException(number + " has not begun; " + next + " is the next");
    }
    if (number < lowest) {
      return;
    }
    ended.set(Math.toIntExact(number - origin));
    if (number == lowest) {
      lowest = origin + ended.nextClearBit((int) (lowest - origin));
      forget();
    }
  }

  private void forget() {
    int below = (int) (lowest - origin);
    if (below >= FORGOTTEN_AT_ONCE) {
      ended = ended.get(below, Math.max(below, ended.length()));
      origin = lowest;
    }
  }

  /** The lowest number that has not ended; {@link #next} if all have. */
  public long lowest() {
    return lowest;
  }

  /** The number that will begin next. */
  public long next() {
    return next;
  }

  /** Whether every number that has begun has ended. */
  public boolean isEmpty() {
    return lowest == next;
  }
}
