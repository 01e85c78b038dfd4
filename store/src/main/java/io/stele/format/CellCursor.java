package io.stele.format;

import java.io.Closeable;
import java.io.IOException;
import java.util.Arrays;

/**
 * The only way to iterate over cells inside the store: a position in a sorted sequence of cells,
 * read field by field so that no object is made for a cell.
 *
 * <p>Order: column key ascending, timestamp descending, sequence number descending, ordinal
 * descending.
 *
 * <p>A cursor begins before the first cell. The accessors describe the current cell and are valid
 * until the next move; after a move that returned false there is no current cell. Not safe for use
 * by several threads.
 */
public interface CellCursor extends Closeable {
  /**
   * Moves to the first cell whose column key is at or above {@code key}; an empty key is below
   * every other.
   *
   * @return whether there is one
   * @throws IOException if the cells cannot be read, {@link io.stele.model.CorruptionException}
   *     where they are damaged
   */
  boolean seek(byte[] key, int length) throws IOException;

  /**
   * Moves to the next cell, or to the first from the beginning.
   *
   * @return whether there is one
   * @throws IOException if the cells cannot be read, {@link io.stele.model.CorruptionException}
   *     where they are damaged
   */
  boolean next() throws IOException;

  /** The array with the cell's {@link ColumnKey}, from 0 to {@link #keyLength()}. */
  byte[] key();

  /** The length of the cell's column key. */
  int keyLength();

  /** Microseconds; {@link Long#MAX_VALUE} for tombstones of columns, families and rows. */
  long timestamp();

  /** The tablet's sequence number of the mutation that wrote the cell. */
  long sequence();

  /** The cell's place within its mutation, from 0 on. */
  int ordinal();

  /** What the cell says. */
  CellType type();

  /** The array with the value, from {@link #valueOffset()} on. */
  byte[] valueArray();

  /** Where in {@link #valueArray()} the value begins. */
  int valueOffset();

  /** The value's length in bytes. */
  int valueLength();

  /** Moves to the first cell whose column key is at or above {@code key}. */
  default boolean seek(byte[] key) throws IOException {
    return seek(key, key.length);
  }

  @Override
  default void close() throws IOException {}

  /** Compares the current cells of two cursors by the order of cells. */
  static int compare(CellCursor a, CellCursor b) {
    int byKey = Arrays.compareUnsigned(a.key(), 0, a.keyLength(), b.key(), 0, b.keyLength());
    if (byKey != 0) {
      return byKey;
    }
    int byTimestamp = Long.compare(b.timestamp(), a.timestamp());
    if (byTimestamp != 0) {
      return byTimestamp;
    }
    int bySequence = Long.compare(b.sequence(), a.sequence());
    return bySequence != 0 ? bySequence : Integer.compare(b.ordinal(), a.ordinal());
  }
}
