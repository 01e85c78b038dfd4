package io.stele.tablet;

import io.stele.format.CellCursor;
import io.stele.format.ColumnKey;
import io.stele.format.ForwardingCursor;
import io.stele.model.Bytes;
import java.io.IOException;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;

/**
 * A cursor that treats the cells of some families differently. Not safe for use by several threads.
 */
abstract class FamilyCursor extends ForwardingCursor {
  private final List<byte[]> special; // What follows the row part of their keys.

  FamilyCursor(CellCursor cells, Collection<String> families) {
    super(cells);
    this.special = families.stream().map(FamilyCursor::part).toList();
  }

  private static byte[] part(String family) {
    byte[] key = ColumnKey.ofFamily(Bytes.EMPTY, family);
    int rowEnd = ColumnKey.ofRow(Bytes.EMPTY).length;
    return Arrays.copyOfRange(key, rowEnd, key.length);
  }

  /** Whether the current cell belongs to one of the families. */
  final boolean isOfFamilies() throws IOException {
    byte[] key = cells.key();
    int length = cells.keyLength();
    int rowEnd = ColumnKey.rowPartLength(key, length);
    for (byte[] family : special) {
      int end = rowEnd + family.length;
      if (end <= length && Arrays.equals(key, rowEnd, end, family, 0, family.length)) {
        return true;
      }
    }
    return false;
  }
}
