package io.stele.tablet;

import io.stele.format.CellCursor;
import io.stele.format.CellType;
import java.io.IOException;
import java.util.Collection;

/**
 * The cells of a file for a read, where those of families that were erased from the file are
 * tombstones of their own timestamps. The read drops them, and counts them as it counts others: so
 * a page ends in time, however many there are. They hide no cell of a later family of that name:
 * such a cell has a higher sequence number. Not safe for use by several threads.
 */
final class ErasedAsDeletedCursor extends FamilyCursor {
  private boolean hidden;

  ErasedAsDeletedCursor(CellCursor cells, Collection<String> families) {
    super(cells, families);
  }

  @Override
  public boolean seek(byte[] key, int length) throws IOException {
    return at(cells.seek(key, length));
  }

  @Override
  public boolean next() throws IOException {
    return at(cells.next());
  }

  private boolean at(boolean aCell) throws IOException {
    hidden = aCell && !cells.type().isTombstone() && isOfFamilies();
    return aCell;
  }

  @Override
  public CellType type() {
    return hidden ? CellType.DELETE_CELL : cells.type();
  }
}
