package io.stele.model;

/** What the Bloom filters of a locality group's SSTables are asked about (§6, "Bloom filters"). */
public enum Bloom {
  /** There are none. */
  NONE,
  /** Rows: a read of a row that an SSTable does not have spares the SSTable. */
  ROW,
  /** Rows and columns: so does a read of columns that the row does not have in it. */
  ROW_COLUMN
}
