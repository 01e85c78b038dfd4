package io.stele.sstable;

import io.stele.format.CellCursor;
import io.stele.format.CellType;
import io.stele.format.ColumnKey;
import io.stele.format.MalformedException;
import io.stele.format.OneCell;
import io.stele.model.Bytes;
import java.io.IOException;

/** A cell as a value, for comparing. */
record TestCell(Bytes key, long timestamp, long sequence, int ordinal, CellType type, Bytes value)
    implements Comparable<TestCell> {

  static TestCell put(String row, String qualifier, long timestamp, String value) {
    Bytes key = Bytes.wrap(ColumnKey.of(Bytes.of(row), "f", Bytes.of(qualifier)));
    return new TestCell(key, timestamp, timestamp, 0, CellType.PUT, Bytes.of(value));
  }

  static TestCell current(CellCursor cells) {
    return new TestCell(
        Bytes.of(cells.key(), 0, cells.keyLength()),
        cells.timestamp(),
        cells.sequence(),
        cells.ordinal(),
        cells.type(),
        Bytes.of(cells.valueArray(), cells.valueOffset(), cells.valueLength()));
  }

  void addTo(SSTableWriter writer) throws IOException {
    byte[] k = key.toByteArray();
    byte[] v = value.toByteArray();
    writer.add(new OneCell(k, k.length, timestamp, sequence, ordinal, type, v, 0, v.length));
  }

  Bytes row() {
    try {
      return ColumnKey.row(key.toByteArray(), key.length());
    } catch (MalformedException e) {
      throw new AssertionError(e);
    }
  }

  @Override
  public int compareTo(TestCell other) {
    int order = key.compareTo(other.key);
    order = order != 0 ? order : Long.compare(other.timestamp, timestamp);
    order = order != 0 ? order : Long.compare(other.sequence, sequence);
    return order != 0 ? order : Integer.compare(other.ordinal, ordinal);
  }
}
