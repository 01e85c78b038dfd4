package io.stele.model;

/**
 * How a job uses a table; immutable.
 *
 * @param table its name when the job was submitted
 */
public record TableUse(String table, How how) {

  /** The ways of reading and writing. */
  public enum How {
    /** Reads through tablet servers. */
    SERVED,
    /** Reads the table's files. */
    DIRECT,
    /** Writes through tablet servers. */
    LIVE,
    /** Writes files, which become visible when the job commits. */
    BULK;

    /** Whether it changes the table. */
    public boolean writes() {
      return this == LIVE || this == BULK;
    }
  }
}
