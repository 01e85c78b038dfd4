package io.stele.tablet;

import io.stele.format.CellCursor;
import io.stele.format.ColumnKey;
import io.stele.format.ForwardingCursor;
import io.stele.model.Bytes;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Set;

/**
 * The cells of a file without those of families that were erased from it. The cursor skips these
 * one by one, until a compaction has rewritten the file. Not safe for use by several threads.
 */
final class ErasedCursor extends ForwardingCursor {
  private final List<byte[]> erased; // What follows the row part of their keys.

  ErasedCursor(CellCursor cells, Set<String> families) {
    super(cells);
    this.erased = families.stream().map(ErasedCursor::part).toList();
  }

  private static byte[] part(String family) {
    byte[] key = ColumnKey.ofFamily(Bytes.EMPTY, family);
    int rowEnd = ColumnKey.ofRow(Bytes.EMPTY).length;
    return Arrays.copyOfRange(key, rowEnd, key.length);
  }

  @Override
  public boolean seek(byte[] key, int length) throws IOException {
    return cells.seek(key, length) && passErased();
  }

  @Override
  public boolean next() throws IOException {
    return cells.next() && passErased();
  }

  private boolean passErased() throws IOException {
    while (isErased()) {
      if (!cells.next()) {
        return false;
      }
    }
    return true;
  }

  private boolean isErased() throws IOException {
    byte[] key = cells.key();
    int length = cells.keyLength();
    int rowEnd = ColumnKey.rowPartLength(key, length);
    for (byte[] family : erased) {
      int end = rowEnd + family.length;
      if (end <= length && Arrays.equals(key, rowEnd, end, family, 0, family.length)) {
        return true;
      }
    }
    return false;
  }
}
