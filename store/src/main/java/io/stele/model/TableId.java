package io.stele.model;

/**
 * The name of a table in METADATA and on disk. Unlike the table's own name it is never reused.
 *
 * @param value lower-case letters and digits, so that it is one path element and sorts apart from
 *     ';' and '&lt;'
 */
public record TableId(String value) implements Comparable<TableId> {
  private static final int LENGTH_MAX = 32;

  /** The root tablet's table: it holds the records of METADATA's tablets. */
  public static final TableId ROOT = new TableId("root");

  /** The METADATA table: it holds the records of all other tablets. */
  public static final TableId METADATA = new TableId("meta");

  public TableId {
    if (!isName(value)) {
      throw new IllegalArgumentException(
          "a table id must be 1 to 32 lower-case letters and digits, not \"" + value + "\"");
    }
  }

  // Each request names a table: no regular expression here.
  private static boolean isName(String value) {
    for (int i = 0; i < value.length(); i++) {
      char one = value.charAt(i);
      if ((one < 'a' || one > 'z') && (one < '0' || one > '9')) {
        return false;
      }
    }
    return !value.isEmpty() && value.length() <= LENGTH_MAX;
  }

  /** Whether this is the root tablet's table or METADATA, which belong to Stele itself. */
  public boolean isSystem() {
    return equals(ROOT) || equals(METADATA);
  }

  @Override
  public int compareTo(TableId other) {
    return value.compareTo(other.value);
  }

  @Override
  public String toString() {
    return value;
  }
}
