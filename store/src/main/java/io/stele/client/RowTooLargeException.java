package io.stele.client;

import io.stele.model.Bytes;
import io.stele.model.SteleException;

/**
 * A row has more bytes than its reader allows: {@link Table#withRowBytesMax} sets the limit, {@link
 * Table#readCells} reads a row of any size, and {@link Rows#skipPast} skips the row.
 */
public final class RowTooLargeException extends SteleException {
  private static final long serialVersionUID = 1L;

  private final transient Bytes row;

  RowTooLargeException(String table, Bytes row, long bytesMax) {
    super(
        Code.REFUSED,
        "row \""
            + row
            + "\" of table "
            + table
            + " has more than "
            + bytesMax
            + " bytes: allow larger rows (Table.withRowBytesMax), read it cell by cell"
            + " (Table.readCells), or skip it (Rows.skipPast)");
    this.row = row;
  }

  /** The row. */
  public Bytes row() {
    return row;
  }
}
