package io.stele.metadata;

/**
 * The point from which a tablet's commit log must be replayed.
 *
 * @param sequence all mutations up to this sequence number are in the tablet's SSTables
 * @param highestTimestamp the highest timestamp a server gave out up to there, in microseconds: it
 *     never goes back on a move
 */
public record Redo(long sequence, long highestTimestamp) {
  /** A tablet without a mutation. */
  public static final Redo START = new Redo(0, 0);
}
