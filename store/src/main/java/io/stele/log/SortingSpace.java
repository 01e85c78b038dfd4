package io.stele.log;

import java.util.ArrayList;
import java.util.List;

/**
 * The memory in which a sorter keeps the records of one part of a segment. Its arrays are used
 * again for the next part and the next segment: memory of the heap that was never used before costs
 * more than sorting, where the operating system has yet to give it, and so does moving records that
 * the collector meets.
 *
 * <p>Not safe for use by several threads at the same time.
 */
public final class SortingSpace {
  private static final int ARRAY_BYTES = 256 << 10;

  private final List<byte[]> arrays = new ArrayList<>();
  private int used; // Of the arrays.
  private int free; // Of the last of those used.

  /** No memory yet: it grows to that of the largest part. */
  public SortingSpace() {}

  /** Keeps a copy of {@code record} until it is {@link #clear cleared}. */
  EncodedRecord keep(EncodedRecord record) {
    int length = record.length();
    if (length > ARRAY_BYTES / 8) { // It might leave much of an array free.
      return at(record, record.body(), 0);
    }
    if (free < length) {
      if (used == arrays.size()) {
        arrays.add(new byte[ARRAY_BYTES]);
      }
      used++;
      free = ARRAY_BYTES;
    }
    byte[] array = arrays.get(used - 1);
    int at = ARRAY_BYTES - free;
    System.arraycopy(record.array(), record.at(), array, at, length);
    free -= length;
    return at(record, array, at);
  }

  private static EncodedRecord at(EncodedRecord record, byte[] array, int at) {
    return new EncodedRecord(record.tablet(), array, at, record.length(), record.bodyCrc());
  }

  /** How much memory it keeps for the next records, in bytes. */
  long heldBytes() {
    return (long) arrays.size() * ARRAY_BYTES;
  }

  /** Forgets all records; their memory is for the next. */
  void clear() {
    used = 0;
    free = 0;
  }
}
