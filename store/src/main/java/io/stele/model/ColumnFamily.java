package io.stele.model;

/**
 * A column family: the unit of schema and of garbage collection.
 *
 * @param name printable, without ':'
 * @param gc which versions of its columns are garbage
 * @param group the locality group it is kept in
 */
public record ColumnFamily(String name, GcPolicy gc, String group) {
  public ColumnFamily {
    Limits.checkFamily(name);
    Limits.checkGroup(group);
  }

  /** A family in the default locality group. */
  public ColumnFamily(String name, GcPolicy gc) {
    this(name, gc, LocalityGroup.DEFAULT_NAME);
  }

  /** A family that keeps the newest version of each column. */
  public static ColumnFamily of(String name) {
    return new ColumnFamily(name, GcPolicy.maxVersions(1));
  }

  /** The same in another locality group. */
  public ColumnFamily in(String otherGroup) {
    return new ColumnFamily(name, gc, otherGroup);
  }
}
