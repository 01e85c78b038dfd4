package io.stele.tablet;

import io.stele.format.CellCursor;
import io.stele.format.ColumnKey;
import io.stele.format.MalformedException;
import io.stele.model.Bytes;
import io.stele.model.Cell;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Cells of one row as values of the model, for filters and for users. For use by one thread. */
final class ModelCells implements CellSink {
  private final List<Cell> cells = new ArrayList<>();
  private byte[] qualifierPart = {}; // That of the qualifier: most rows have the same columns.
  private Bytes qualifier = Bytes.EMPTY;

  @Override
  public void take(CellCursor cell, String family, int familyEnd) throws MalformedException {
    byte[] key = cell.key();
    int length = cell.keyLength();
    if (!Arrays.equals(key, familyEnd, length, qualifierPart, 0, qualifierPart.length)) {
      qualifier = ColumnKey.qualifier(key, familyEnd, length);
      qualifierPart = Arrays.copyOfRange(key, familyEnd, length);
    }
    cells.add(
        new Cell(
            family,
            qualifier,
            cell.timestamp(),
            Bytes.of(cell.valueArray(), cell.valueOffset(), cell.valueLength())));
  }

  /** What was taken since the last call, immutable, so that a row need not copy it. */
  List<Cell> remove() {
    if (cells.size() == 1) { // As in many tables: without a copy of the list.
      return List.of(cells.remove(0));
    }
    List<Cell> taken = List.copyOf(cells);
    cells.clear();
    return taken;
  }
}
