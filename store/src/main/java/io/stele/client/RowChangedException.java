package io.stele.client;

import io.stele.model.Bytes;
import io.stele.model.SteleException;

/**
 * A row that is read cell by cell ({@link Table#readCells}) can no longer be read as it was when
 * its first cells were: a compaction has removed what has changed since, the table's schema was
 * altered, or the tablet is elsewhere now. Read it again from the start.
 */
public final class RowChangedException extends SteleException {
  private static final long serialVersionUID = 1L;

  RowChangedException(String table, Bytes row) {
    super(
        Code.RETRY_LATER,
        "row \""
            + row
            + "\" of table "
            + table
            + " can no longer be read at the read point of its first cells:"
            + " read it again from the start");
  }
}
