package io.stele.format;

/** What one cell of the store says. Ordinals are written to disk: add new types only at the end. */
public enum CellType {
  /** The column has this value at this timestamp. */
  PUT,
  /** The version with this timestamp is deleted. */
  DELETE_CELL,
  /**
   * The versions of the column within a time range are deleted; the range is the value, as {@link
   * MutationBlock} writes it.
   */
  DELETE_COLUMN,
  /** Everything of the family in this row is deleted. */
  DELETE_FAMILY,
  /** Everything in this row is deleted. */
  DELETE_ROW,
  /** Only in answers on the wire: the value is a label of the cell before. */
  LABEL,
  /**
   * As {@link #PUT}, for a version that newer ones have pushed out of the number its policy keeps,
   * and that stays only because of its age. Only compactions write it: what pushed it out may be
   * gone.
   */
  SURPLUS;

  private static final CellType[] VALUES = values();

  /** How many types there are: codes are 0 to this, exclusive. */
  static final int COUNT = VALUES.length;

  /** The type written as {@code code}, which is below {@link #COUNT}. */
  static CellType of(int code) {
    return VALUES[code];
  }

  /** Whether this type deletes. */
  public boolean isTombstone() {
    return switch (this) {
      case DELETE_CELL, DELETE_COLUMN, DELETE_FAMILY, DELETE_ROW -> true;
      case PUT, LABEL, SURPLUS -> false;
    };
  }
}
