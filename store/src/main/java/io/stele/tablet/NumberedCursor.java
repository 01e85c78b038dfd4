package io.stele.tablet;

import io.stele.format.CellCursor;
import io.stele.format.CellType;
import java.io.IOException;

/**
 * The cells of a file that a job has written: all have the sequence number that the tablet gave to
 * the file. Not safe for use by several threads.
 */
final class NumberedCursor implements CellCursor {
  private final CellCursor cells;
  private final long sequence;

  NumberedCursor(CellCursor cells, long sequence) {
    this.cells = cells;
    this.sequence = sequence;
  }

  @Override
  public boolean seek(byte[] key, int length) throws IOException {
    return cells.seek(key, length);
  }

  @Override
  public boolean next() throws IOException {
    return cells.next();
  }

  @Override
  public byte[] key() {
    return cells.key();
  }

  @Override
  public int keyLength() {
    return cells.keyLength();
  }

  @Override
  public long timestamp() {
    return cells.timestamp();
  }

  @Override
  public long sequence() {
    return sequence;
  }

  @Override
  public int ordinal() {
    return cells.ordinal();
  }

  @Override
  public CellType type() {
    return cells.type();
  }

  @Override
  public byte[] valueArray() {
    return cells.valueArray();
  }

  @Override
  public int valueOffset() {
    return cells.valueOffset();
  }

  @Override
  public int valueLength() {
    return cells.valueLength();
  }

  @Override
  public void close() throws IOException {
    cells.close();
  }
}
