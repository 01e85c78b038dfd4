package io.stele.format;

import java.io.IOException;

/**
 * A cursor that is at the cells of another. A subclass changes what it must.
 *
 * <p>Not safe for use by several threads.
 */
public abstract class ForwardingCursor implements CellCursor {
  /** Where it is. */
  protected CellCursor cells;

  /** A cursor over {@code cells}, which it closes. */
  protected ForwardingCursor(CellCursor cells) {
    this.cells = cells;
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
    return cells.sequence();
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
