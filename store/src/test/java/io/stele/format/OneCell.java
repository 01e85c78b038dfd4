package io.stele.format;

/** A cursor that stands at a cell of its own, and cannot move. */
public record OneCell(
    byte[] key,
    int keyLength,
    long timestamp,
    long sequence,
    int ordinal,
    CellType type,
    byte[] valueArray,
    int valueOffset,
    int valueLength)
    implements CellCursor {
  @Override
  public boolean seek(byte[] to, int length) {
    throw new UnsupportedOperationException("there is one cell only");
  }

  @Override
  public boolean next() {
    throw new UnsupportedOperationException("there is one cell only");
  }
}
