package io.stele.model;

/**
 * A column family: the unit of schema and of garbage collection.
 *
 * @param name printable, without ':'
 * @param gc which versions of its columns are garbage
 */
public record ColumnFamily(String name, GcPolicy gc) {
  public ColumnFamily {
    Limits.checkFamily(name);
  }

  /** A family that keeps the newest version of each column. */
  public static ColumnFamily of(String name) {
    return new ColumnFamily(name, GcPolicy.maxVersions(1));
  }
}
