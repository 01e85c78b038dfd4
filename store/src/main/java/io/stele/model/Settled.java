package io.stele.model;

/**
 * How far a task that writes numbered records has come, whichever of its attempts wrote them.
 *
 * <p>This is a fact about the task, not about a tablet. So any tablet that learns of it need no
 * longer remember single records of the task below {@code below}, even after splits, merges and
 * moves.
 *
 * @param below every record with a lower number, from 1 on, was applied and acknowledged
 * @param digest of these records, in order: {@link #after} each of them
 */
public record Settled(long below, long digest) {
  /** No record is settled yet. */
  public static final Settled NONE = new Settled(1, 0);

  private static final long MULTIPLIER = 0x9e3779b97f4a7c15L;

  public Settled {
    if (below < 1) {
      throw new IllegalArgumentException("records are numbered from 1 on, not from " + below);
    }
  }

  /**
   * The digest of records whose last one has the digest {@code record}, when those before it have
   * the digest {@code before}.
   */
  public static long after(long before, long record) {
    long mixed = (Long.rotateLeft(before, 31) ^ record) * MULTIPLIER + 1;
    return mixed ^ mixed >>> 32;
  }
}
