package io.stele.metadata;

import io.stele.model.Bytes;
import io.stele.model.RowRange;
import io.stele.model.TableId;

/**
 * The keys of METADATA's rows: {@code <table id>;<end row>} for a tablet that ends before a row,
 * {@code <table id><} for a table's last tablet, so that the tablets of a table are together in the
 * order of their rows.
 */
public final class MetadataKeys {
  private static final Bytes SEPARATOR = Bytes.of(";");
  private static final Bytes LAST = Bytes.of("<");

  private MetadataKeys() {}

  /** The row of the tablet of {@code table} that ends at {@code endRow}; empty: of the last one. */
  public static Bytes row(TableId table, Bytes endRow) {
    return endRow.isEmpty() ? id(table).concat(LAST) : id(table).concat(SEPARATOR).concat(endRow);
  }

  /**
   * The least key that the row of the tablet with {@code row} in it may have: that tablet is the
   * first at or above it.
   */
  public static Bytes lookup(TableId table, Bytes row) {
    Bytes id = id(table);
    byte[] key = new byte[id.length() + SEPARATOR.length() + row.length() + 1];
    id.copyTo(key, 0);
    SEPARATOR.copyTo(key, id.length());
    row.copyTo(key, id.length() + SEPARATOR.length());
    return Bytes.wrap(key); // The zero at its end makes it the successor.
  }

  /** The rows of all tablets of {@code table}. */
  public static RowRange table(TableId table) {
    return new RowRange(id(table).concat(SEPARATOR), id(table).concat(LAST).successor());
  }

  /** The table in which the records of the tablets of {@code table} are rows. */
  public static TableId recordsOf(TableId table) {
    return table.equals(TableId.METADATA) ? TableId.ROOT : TableId.METADATA;
  }

  private static Bytes id(TableId table) {
    return Bytes.of(table.value());
  }
}
