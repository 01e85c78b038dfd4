package io.stele.tablet;

import io.stele.format.CellCursor;
import java.io.IOException;
import java.util.Collection;

/**
 * The cells of a file for a compaction, without those of families that were erased from it: the
 * cursor skips these one by one. Not safe for use by several threads.
 */
final class WithoutErasedCursor extends FamilyCursor {
  WithoutErasedCursor(CellCursor cells, Collection<String> families) {
    super(cells, families);
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
    while (isOfFamilies()) {
      if (!cells.next()) {
        return false;
      }
    }
    return true;
  }
}
