package io.stele.tablet;

import io.stele.format.CellCursor;
import io.stele.format.CellType;
import java.io.IOException;
import java.util.Collection;

/**
 * The cells of a file in which versions were {@link CellType#SURPLUS} by a smaller count than their
 * family's policy has now: whether they are is found out anew. Not safe for use by several threads.
 */
final class RecountedCursor extends FamilyCursor {
  private boolean recounted;

  RecountedCursor(CellCursor cells, Collection<String> families) {
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
    recounted = aCell && cells.type() == CellType.SURPLUS && isOfFamilies();
    return aCell;
  }

  @Override
  public CellType type() {
    return recounted ? CellType.PUT : cells.type();
  }
}
