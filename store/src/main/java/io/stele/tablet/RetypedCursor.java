package io.stele.tablet;

import io.stele.format.CellCursor;
import io.stele.format.CellType;
import java.io.IOException;
import java.util.Collection;
import java.util.function.Predicate;

/**
 * The cells of a file, where some cells of some families have another type than in the file. Not
 * safe for use by several threads.
 */
final class RetypedCursor extends FamilyCursor {
  private final Predicate<CellType> changes;
  private final CellType to;
  private boolean changed;

  private RetypedCursor(
      CellCursor cells, Collection<String> families, Predicate<CellType> changes, CellType to) {
    super(cells, families);
    this.changes = changes;
    this.to = to;
  }

  /**
   * For a read: the cells of families that were erased from the file are tombstones of their own
   * timestamps. The read drops them, and counts them as it counts others: so a page ends in time,
   * however many there are. They hide no cell of a later family of that name: such a cell has a
   * higher sequence number.
   */
  static RetypedCursor erasedAsDeleted(CellCursor cells, Collection<String> erased) {
    return new RetypedCursor(cells, erased, type -> !type.isTombstone(), CellType.DELETE_CELL);
  }

  /**
   * Versions that are {@link CellType#SURPLUS} by a smaller count than their family's policy has
   * now are as any others: whether they are surplus is found out anew.
   */
  static RetypedCursor recounted(CellCursor cells, Collection<String> families) {
    return new RetypedCursor(cells, families, type -> type == CellType.SURPLUS, CellType.PUT);
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
    changed = aCell && changes.test(cells.type()) && isOfFamilies();
    return aCell;
  }

  @Override
  public CellType type() {
    return changed ? to : cells.type();
  }
}
