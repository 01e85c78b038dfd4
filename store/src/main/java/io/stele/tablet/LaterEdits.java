package io.stele.tablet;

import io.stele.format.CellCursor;
import io.stele.format.ForwardingCursor;

/** The cells of a mutation whose edits come after {@code before} others of its row. */
final class LaterEdits extends ForwardingCursor {
  private final int before;

  LaterEdits(CellCursor cells, int before) {
    super(cells);
    this.before = before;
  }

  @Override
  public int ordinal() {
    return before + cells.ordinal();
  }
}
