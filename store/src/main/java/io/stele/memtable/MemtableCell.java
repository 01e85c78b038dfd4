package io.stele.memtable;

import io.stele.format.CellType;
import java.util.Arrays;
import java.util.Comparator;

/** One cell in memory. Nobody changes the arrays once it is in a memtable. */
final class MemtableCell {
  /** The order of cells, as {@link io.stele.format.CellCursor} says it. */
  static final Comparator<MemtableCell> ORDER = MemtableCell::compare;

  /**
   * Roughly what a cell takes beside its bytes: this object, two array headers, its skip-list node.
   */
  static final int OVERHEAD_BYTES = 128;

  final byte[] key;
  final long timestamp;
  final long sequence;
  final int ordinal;
  final CellType type;
  final byte[] value;

  MemtableCell(
      byte[] key, long timestamp, long sequence, int ordinal, CellType type, byte[] value) {
    this.key = key;
    this.timestamp = timestamp;
    this.sequence = sequence;
    this.ordinal = ordinal;
    this.type = type;
    this.value = value;
  }

  /** Stands before every cell whose key is {@code key} or above. */
  static MemtableCell before(byte[] key) {
    return new MemtableCell(
        key, Long.MAX_VALUE, Long.MAX_VALUE, Integer.MAX_VALUE, CellType.PUT, key);
  }

  long bytes() {
    return OVERHEAD_BYTES + key.length + value.length;
  }

  private static int compare(MemtableCell a, MemtableCell b) {
    int byKey = Arrays.compareUnsigned(a.key, b.key);
    if (byKey != 0) {
      return byKey;
    }
    int byTimestamp = Long.compare(b.timestamp, a.timestamp);
    if (byTimestamp != 0) {
      return byTimestamp;
    }
    int bySequence = Long.compare(b.sequence, a.sequence);
    return bySequence != 0 ? bySequence : Integer.compare(b.ordinal, a.ordinal);
  }
}
