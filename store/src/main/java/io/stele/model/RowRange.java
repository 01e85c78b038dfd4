package io.stele.model;

import java.util.Optional;

/**
 * The rows from {@code start} (inclusive) to {@code end} (exclusive); an empty end means no end.
 * REFUSED if the start is after the end.
 *
 * @param start the first row; empty: from the first on
 * @param end the row after the last; empty: to the last
 */
public record RowRange(Bytes start, Bytes end) {
  /** Every row. */
  public static final RowRange ALL = new RowRange(Bytes.EMPTY, Bytes.EMPTY);

  public RowRange {
    if (!end.isEmpty() && start.compareTo(end) > 0) {
      throw SteleException.refused(
          "a range's start must not be after its end: [" + start + ", " + end + ")");
    }
  }

  /** Rows from {@code start} (inclusive) to {@code end} (exclusive; empty: no end). */
  public static RowRange of(String start, String end) {
    return new RowRange(Bytes.of(start), Bytes.of(end));
  }

  /** Every row from {@code start} (inclusive) on. */
  public static RowRange from(Bytes start) {
    return new RowRange(start, Bytes.EMPTY);
  }

  /** Every row from {@code start} (inclusive) on. */
  public static RowRange from(String start) {
    return from(Bytes.of(start));
  }

  /** Every row up to {@code end} (exclusive; empty: every row). */
  public static RowRange until(Bytes end) {
    return new RowRange(Bytes.EMPTY, end);
  }

  /** Every row up to {@code end} (exclusive; empty: every row). */
  public static RowRange until(String end) {
    return until(Bytes.of(end));
  }

  /** Just {@code row}. */
  public static RowRange single(Bytes row) {
    return new RowRange(row, row.successor());
  }

  /** Every row that starts with {@code prefix}. */
  public static RowRange prefix(Bytes prefix) {
    return new RowRange(prefix, prefix.prefixEnd());
  }

  /** Every row that starts with {@code prefix}. */
  public static RowRange prefix(String prefix) {
    return prefix(Bytes.of(prefix));
  }

  /** Whether {@code row} is in the range. */
  public boolean contains(Bytes row) {
    return start.compareTo(row) <= 0 && isBeforeEnd(row);
  }

  /** Whether {@code row} is below the end. */
  public boolean isBeforeEnd(Bytes row) {
    return end.isEmpty() || row.compareTo(end) < 0;
  }

  /** Whether no row can be in the range. */
  public boolean isEmpty() {
    return start.equals(end) && !end.isEmpty();
  }

  /** Whether the range holds exactly one row, as {@link #single} makes it. */
  public boolean isSingle() {
    int length = start.length();
    return end.length() == length + 1 && end.at(length) == 0 && end.slice(0, length).equals(start);
  }

  /** Whether every row of {@code other} is in this range. */
  public boolean covers(RowRange other) {
    return start.compareTo(other.start) <= 0
        && (end.isEmpty() || (!other.end.isEmpty() && other.end.compareTo(end) <= 0));
  }

  /** The rows in both, or nothing if there are none. */
  public Optional<RowRange> intersection(RowRange other) {
    Bytes low = start.compareTo(other.start) >= 0 ? start : other.start;
    Bytes high =
        end.isEmpty() || (!other.end.isEmpty() && other.end.compareTo(end) < 0) ? other.end : end;
    return high.isEmpty() || low.compareTo(high) < 0
        ? Optional.of(new RowRange(low, high))
        : Optional.empty();
  }

  @Override
  public String toString() {
    return "[" + start + ", " + (end.isEmpty() ? "\u221e" : end) + ")";
  }
}
