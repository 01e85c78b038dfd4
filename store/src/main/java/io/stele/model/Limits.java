package io.stele.model;

/**
 * The limits that need no schema. They are checked where a value is made: in the client, so that a
 * mistake costs no round trip, and again in the server.
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

  /**
   * Most bytes in one mutation, as {@link OperationSize} counts them: a mutation must fit into a
   * log record, and into memory several times.
   */
  public static final long MUTATION_BYTES_MAX = 256L << 20;

  /** How many levels filters may nest: far less than protobuf can read. */
  public static final int FILTER_DEPTH_MAX = 32;

  /** Most parts of one filter, itself and all filters within it. */
  public static final int FILTER_PARTS_MAX = 1000;

  /** Most cells that a filter may make of one cell, by interleaves. */
  public static final int FILTER_GROWTH_MAX = 1000;

  /** The most cells of one row that a filter may keep in memory, unless the row has more. */
  public static final int FILTER_CELLS_MAX = 1_000_000;

  /** Most families and columns, together, that one query may name. */
  public static final int QUERY_COLUMNS_MAX = 10_000;

  /** Most row ranges in one request. A query may have more: a client asks for some at a time. */
  public static final int REQUEST_RANGES_MAX = 10_000;

  /** Most rules of one read-modify-write. */
  public static final int RULES_MAX = 10_000;

  /** Longest regular expression, in characters. */
  public static final int REGEX_LENGTH_MAX = 4096;

  /** How many levels groups of a regular expression may nest. */
  public static final int REGEX_DEPTH_MAX = 100;

  /** Largest program of a regular expression, in steps, with repetitions written out. */
  public static final int REGEX_SIZE_MAX = 20_000;

  /** Largest programs of all regular expressions of one filter together, in the same steps. */
  public static final int FILTER_REGEX_SIZE_MAX = 40_000;

  /** Longest label that a filter may add to cells, in characters. */
  public static final int LABEL_LENGTH_MAX = 64;

  /** Most labels that a filter may add to one cell. */
  public static final int CELL_LABELS_MAX = 16;

  /** Most bytes of one page of a read: the page ends with the row that exceeds them. */
  public static final long PAGE_BYTES_MAX = 16L << 20;

  /** Most families of a table: its schema must fit into a node of the lock service. */
  public static final int FAMILIES_MAX = 256;

  /** Most locality groups of a table: each has its own SSTables in every tablet. */
  public static final int GROUPS_MAX = 64;

  /**
   * Most readers of a table: HDFS takes 32 entries in an access control list, some of which are
   * needed for the store, for a job and for the file's owner.
   */
  public static final int READERS_MAX = 24;

  /** Most parts of one garbage collection policy, itself and all policies within it. */
  public static final int POLICY_PARTS_MAX = 32;

  /** Most rows at which a new table can be cut. */
  public static final int SPLIT_ROWS_MAX = 10_000;

  /**
   * Longest row at which a table can be cut: with the table's id before it, it is still a row key.
   */
  public static final int SPLIT_ROW_BYTES_MAX = ROW_BYTES_MAX - 64;

  private Limits() {}

  /**
   * Checks the name of a table.
   *
   * @throws SteleException REFUSED if no table can have it
   */
  public static void checkTableName(String name) {
    if (!name.matches("[A-Za-z0-9_.-]{1,128}")) {
      throw SteleException.refused(
          "\""
              + Bytes.of(name)
              + "\" cannot name a table: a name is 1 to 128 letters, digits, '_', '-' and '.'");
    }
  }

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
   * Refuses a range with a bound that is longer than any row or the first key after it.
   *
   * @throws SteleException {@link SteleException.Code#REFUSED}
   */
  public static void checkRange(RowRange range) {
    int longest = Math.max(range.start().length(), range.end().length());
    if (longest > ROW_BYTES_MAX + 1) {
      throw SteleException.refused(
          "a range of rows has a bound of "
              + longest
              + " bytes: the limit is "
              + (ROW_BYTES_MAX + 1)
              + ", as a row key has at most "
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
    if (name.isEmpty() || name.length() > FAMILY_BYTES_MAX || !isPrintable(name)) {
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

  private static boolean isPrintable(String name) {
    for (int i = 0; i < name.length(); i++) { // Each edit is checked: no stream.
      char c = name.charAt(i);
      if (c <= 0x20 || c >= 0x7f || c == ':') {
        return false;
      }
    }
    return true;
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
   * Refuses more edits of a row than one mutation may have.
   *
   * @throws SteleException {@link SteleException.Code#REFUSED}
   */
  public static void checkEdits(Bytes row, long edits) {
    if (edits > EDITS_MAX) {
      throw SteleException.refused(
          "a mutation of row \"" + row + "\" has " + edits + " edits: the limit is " + EDITS_MAX);
    }
  }

  /**
   * Refuses a mutation that is too large as a whole.
   *
   * @param bytes its {@link OperationSize}
   * @throws SteleException {@link SteleException.Code#REFUSED}
   */
  public static void checkMutationBytes(Bytes row, long bytes) {
    if (bytes > MUTATION_BYTES_MAX) {
      throw SteleException.refused(
          "a mutation of row \""
              + row.slice(0, Math.min(row.length(), 32))
              + "\" makes cells of "
              + bytes
              + " bytes, each with its row key: the limit is "
              + MUTATION_BYTES_MAX
              + "; split it into several mutations");
    }
  }

  /**
   * Refuses more families and columns than one query may name.
   *
   * @throws SteleException {@link SteleException.Code#REFUSED}
   */
  public static void checkQueryColumns(long count) {
    if (count > QUERY_COLUMNS_MAX) {
      throw SteleException.refused(
          "a query names "
              + count
              + " families and columns: the limit is "
              + QUERY_COLUMNS_MAX
              + "; name whole families, use a filter, or make several queries of it");
    }
  }

  /**
   * Refuses more row ranges than one request may ask for.
   *
   * @throws SteleException {@link SteleException.Code#REFUSED}
   */
  public static void checkRequestRanges(int count) {
    if (count > REQUEST_RANGES_MAX) {
      throw SteleException.refused(
          "a request asks for "
              + count
              + " row ranges: the limit is "
              + REQUEST_RANGES_MAX
              + "; ask for some at a time");
    }
  }

  /**
   * Refuses a read-modify-write without rules, or with more than it may have.
   *
   * @throws SteleException {@link SteleException.Code#REFUSED}
   */
  public static void checkRules(Bytes row, int count) {
    if (count < 1 || count > RULES_MAX) {
      throw SteleException.refused(
          "a read-modify-write of row \""
              + row
              + "\" has "
              + count
              + " rules: give it 1 to "
              + RULES_MAX);
    }
  }

  /**
   * Refuses a filter that nests too deep.
   *
   * @param depth the level reached, from 1 on
   * @throws SteleException {@link SteleException.Code#REFUSED}
   */
  public static void checkFilterDepth(int depth) {
    if (depth > FILTER_DEPTH_MAX) {
      throw SteleException.refused(
          "a filter nests deeper than " + FILTER_DEPTH_MAX + " levels: nest it less");
    }
  }

  /**
   * Refuses more of something than a table may have.
   *
   * @throws SteleException {@link SteleException.Code#REFUSED}
   */
  static void checkCount(String table, String what, int count, int max) {
    if (count > max) {
      throw SteleException.refused(
          "table " + table + " has " + count + " " + what + ": the limit is " + max);
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
          "a timestamp must be 0 to "
              + (Long.MAX_VALUE - 1)
              + " microseconds, not "
              + timestampMicros);
    }
  }
}
