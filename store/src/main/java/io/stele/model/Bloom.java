package io.stele.model;

/** What the Bloom filters of a locality group's SSTables contain (§6, "Bloom filters"). */
public enum Bloom {
  /** There are none. */
  NONE,
  /** Rows: a read skips an SSTable that does not have the row. */
  ROW,
  /** Rows and columns: a read also skips an SSTable that has the row but not the columns. */
  ROW_COLUMN
}
