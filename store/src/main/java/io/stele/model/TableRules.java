package io.stele.model;

import java.util.List;

/**
 * Which tables can be created and how they can be changed. The client makes this check before it
 * sends a request, and the master repeats it before it acts. {@link TableSchema} checks the rules
 * that hold for every schema by itself.
 */
public final class TableRules {
  /** How the names of Stele's own tables begin. */
  public static final String RESERVED_PREFIX = "stele.";

  private TableRules() {}

  /**
   * Refuses a table that cannot be created.
   *
   * @param splitRows each is the first row of a further tablet
   * @throws SteleException REFUSED
   */
  public static void checkNew(TableSchema schema, List<Bytes> splitRows) {
    checkNotReserved(schema.name());
    checkSplitRows(schema.name(), splitRows);
  }

  /**
   * Refuses to change a table from {@code before} to {@code after}: its name stays.
   *
   * @throws SteleException REFUSED
   */
  public static void checkChange(TableSchema before, TableSchema after) {
    checkNotReserved(before.name());
    if (!after.name().equals(before.name())) {
      throw SteleException.refused(
          "table " + before.name() + " cannot be renamed to " + after.name());
    }
  }

  /**
   * Refuses a name that is reserved for Stele's own tables, which clients cannot create, alter or
   * drop.
   *
   * @throws SteleException REFUSED
   */
  public static void checkNotReserved(String name) {
    if (name.startsWith(RESERVED_PREFIX)) {
      throw SteleException.refused(
          "names that begin with \""
              + RESERVED_PREFIX
              + "\" are reserved for Stele, so "
              + name
              + " cannot be created, altered or dropped: choose another name");
    }
  }

  private static void checkSplitRows(String name, List<Bytes> splitRows) {
    if (splitRows.size() > Limits.SPLIT_ROWS_MAX) {
      throw SteleException.refused(
          "table "
              + name
              + " cannot be created with "
              + splitRows.size()
              + " split rows: the limit is "
              + Limits.SPLIT_ROWS_MAX);
    }
    Bytes last = Bytes.EMPTY;
    for (Bytes row : splitRows) {
      if (row.compareTo(last) <= 0) {
        throw SteleException.refused(
            "the split rows of table "
                + name
                + " must be ascending and not empty: \""
                + row
                + "\" comes after \""
                + last
                + "\"");
      }
      if (row.length() > Limits.SPLIT_ROW_BYTES_MAX) {
        throw SteleException.refused(
            "table "
                + name
                + " cannot be split at a row of "
                + row.length()
                + " bytes: the limit is "
                + Limits.SPLIT_ROW_BYTES_MAX);
      }
      last = row;
    }
  }
}
