package io.stele.model;

/**
 * What a key may be: checked in the client, so that a mistake costs no round trip, and again in the
 * server.
 */
public final class Limits {
  /** Longest row key, in bytes. */
  public static final int ROW_BYTES_MAX = 64 << 10;

  /** Longest name of a family or locality group, in bytes. */
  public static final int FAMILY_BYTES_MAX = 255;

  /** Longest qualifier, in bytes. */
  public static final int QUALIFIER_BYTES_MAX = 64 << 10;

  /** Most edits in one mutation. */
  public static final int EDITS_MAX = 100_000;

  private Limits() {}

  /**
   * Refuses a row key that is empty or too long.
   *
   * @throws SteleException {@link SteleException.Code#REFUSED}
   */
  public static void checkRow(Bytes row) {
    if (row.isEmpty()) {
      throw SteleException.refused(
          "the row key is empty: give it 1 to " + ROW_BYTES_MAX + " bytes");
    }
    if (row.length() > ROW_BYTES_MAX) {
      throw SteleException.refused(
          "the row key starting \""
              + row.slice(0, 32)
              + "\" has "
              + row.length()
              + " bytes: the limit is "
              + ROW_BYTES_MAX);
    }
  }

  /**
   * Refuses a family name that is empty, too long, or not printable ASCII without ':'.
   *
   * @throws SteleException {@link SteleException.Code#REFUSED}
   */
  public static void checkFamily(String family) {
    checkName(family, "family");
  }

  /**
   * Refuses a locality group's name that is empty, too long, or not printable ASCII without ':'.
   *
   * @throws SteleException {@link SteleException.Code#REFUSED}
   */
  public static void checkGroup(String group) {
    checkName(group, "locality group");
  }

  private static void checkName(String name, String what) {
    boolean printable = name.chars().allMatch(c -> c > 0x20 && c < 0x7f && c != ':');
    if (name.isEmpty() || name.length() > FAMILY_BYTES_MAX || !printable) {
      throw SteleException.refused(
          "\""
              + Bytes.of(name)
              + "\" cannot name a "
              + what
              + ": a name is 1 to "
              + FAMILY_BYTES_MAX
              + " printable ASCII characters without ':' and space");
    }
  }

  /**
   * Refuses a qualifier that is too long.
   *
   * @throws SteleException {@link SteleException.Code#REFUSED}
   */
  public static void checkQualifier(Bytes qualifier) {
    if (qualifier.length() > QUALIFIER_BYTES_MAX) {
      throw SteleException.refused(
          "a qualifier has " + qualifier.length() + " bytes: the limit is " + QUALIFIER_BYTES_MAX);
    }
  }

  /**
   * Refuses a timestamp below 0 or of {@link Long#MAX_VALUE}, which is kept for "no end".
   *
   * @throws SteleException {@link SteleException.Code#REFUSED}
   */
  public static void checkTimestamp(long timestampMicros) {
    if (timestampMicros < 0 || timestampMicros == Long.MAX_VALUE) {
      throw SteleException.refused(
          "a timestamp is 0 to " + (Long.MAX_VALUE - 1) + " microseconds, not " + timestampMicros);
    }
  }
}
