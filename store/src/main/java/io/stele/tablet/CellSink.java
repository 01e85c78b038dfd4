package io.stele.tablet;

import io.stele.format.CellCursor;
import io.stele.format.MalformedException;

/** Takes the cells that a read sees, in their order. For use by one thread. */
@FunctionalInterface
interface CellSink {
  /**
   * Takes the current cell of {@code cell}, which moves on afterwards.
   *
   * @param family the cell's family
   * @param familyEnd where the family ends in the cell's key
   */
  void take(CellCursor cell, String family, int familyEnd) throws MalformedException;
}
