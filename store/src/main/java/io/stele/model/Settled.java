package io.stele.model;

/**
 * How far a task has come that writes numbered records, whichever of its attempts wrote them.
 *
 * <p>This is about the task, not about a tablet: whoever hears of it may forget the task's records
 * below {@code below} one by one, through splits, merges and moves of tablets.
 *
 * @param below every record with a lower number, from 1 on, was applied and acknowledged
 * @param digest of these records, in order: {@link #after} each of them
 */
public record Settled(long below, long digest) {
  /** Nothing is settled yet. */
  public static final Settled NONE = new Settled(1, 0);

  private static final long MULTIPLIER = 0x9e3779b97f4a7c15L;

  public Settled {
    if (below < 1) {
      throw new IllegalArgumentException("records are numbered from 1 on, not from " + below);
    }
  }

  /** The digest of records of which the last has {@code record} and those before it this digest. */
  public static long after(long before, long record) {
    long mixed = (Long.rotateLeft(before, 31) ^ record) * MULTIPLIER + 1;
    return mixed ^ mixed >>> 32;
  }
}
