package io.stele.model;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;

/**
 * Which rows a read returns, and which of their cells. It may name at most {@value
 * Limits#QUERY_COLUMNS_MAX} families and columns together.
 *
 * @param ranges the rows, as ranges, of which there may be any number; none: every row
 * @param families the families to return; all, if neither families nor columns are given
 * @param columns the single columns to return, besides the families
 * @param versions the most versions of a column to return, newest first; {@link Integer#MAX_VALUE}:
 *     all that are kept
 * @param times the timestamps to return
 * @param rowLimit the most rows to return; {@link Long#MAX_VALUE}: all
 * @param filter applied last, to the cells that the other parts let through
 */
public record RowQuery(
    List<RowRange> ranges,
    List<String> families,
    List<Column> columns,
    int versions,
    TimeRange times,
    long rowLimit,
    Optional<Filter> filter) {
  /** All rows, all columns, all versions kept. */
  public static final RowQuery ALL =
      new RowQuery(
          List.of(),
          List.of(),
          List.of(),
          Integer.MAX_VALUE,
          TimeRange.ALL,
          Long.MAX_VALUE,
          Optional.empty());

  /** No range at all would mean every row. */
  private static final RowRange NOTHING = RowRange.of("\0", "\0");

  public RowQuery {
    ranges = List.copyOf(ranges);
    families = List.copyOf(families);
    columns = List.copyOf(columns);
    Limits.checkQueryColumns((long) families.size() + columns.size());
    families.forEach(Limits::checkFamily);
    for (Column column : columns) {
      Limits.checkFamily(column.family());
      Limits.checkQualifier(column.qualifier());
    }
    if (versions < 1) {
      throw SteleException.refused("a read must ask for at least 1 version, not " + versions);
    }
    if (rowLimit < 1) {
      throw SteleException.refused("a read must ask for at least 1 row, not " + rowLimit);
    }
  }

  /** One row. */
  public static RowQuery row(Bytes row) {
    Limits.checkRow(row);
    return ALL.range(RowRange.single(row));
  }

  /** One row. */
  public static RowQuery row(String row) {
    return row(Bytes.of(row));
  }

  /** Some rows: each that there is, once, in the order of keys. Of no keys: no row. */
  public static RowQuery rows(Collection<Bytes> rows) {
    rows.forEach(Limits::checkRow);
    return ALL.withRanges(rows.stream().map(RowRange::single).toList());
  }

  /** Every row that starts with {@code prefix}. */
  public static RowQuery prefix(Bytes prefix) {
    return ALL.range(RowRange.prefix(prefix));
  }

  /** Every row that starts with {@code prefix}. */
  public static RowQuery prefix(String prefix) {
    return prefix(Bytes.of(prefix));
  }

  /** The rows of {@code range}, besides those of the ranges named before. */
  public RowQuery range(RowRange range) {
    return new RowQuery(
        append(ranges, range), families, columns, versions, times, rowLimit, filter);
  }

  /** The rows of {@code newRanges} instead; of no range: no row. */
  public RowQuery withRanges(List<RowRange> newRanges) {
    List<RowRange> some = newRanges.isEmpty() ? List.of(NOTHING) : newRanges;
    return new RowQuery(some, families, columns, versions, times, rowLimit, filter);
  }

  /** All columns of {@code family}, besides what was named before. */
  public RowQuery family(String family) {
    return new RowQuery(
        ranges, append(families, family), columns, versions, times, rowLimit, filter);
  }

  /** The column {@code family:qualifier}, besides what was named before. */
  public RowQuery column(String family, String qualifier) {
    return column(Column.of(family, qualifier));
  }

  /** The column, besides what was named before. */
  public RowQuery column(Column column) {
    return new RowQuery(
        ranges, families, append(columns, column), versions, times, rowLimit, filter);
  }

  /** At most {@code count} versions of each column. */
  public RowQuery versions(int count) {
    return new RowQuery(ranges, families, columns, count, times, rowLimit, filter);
  }

  /** Only versions with a timestamp in {@code range}. */
  public RowQuery times(TimeRange range) {
    return new RowQuery(ranges, families, columns, versions, range, rowLimit, filter);
  }

  /** At most {@code count} rows. */
  public RowQuery limit(long count) {
    return new RowQuery(ranges, families, columns, versions, times, count, filter);
  }

  /** What {@code next} lets through, after the filters named before. */
  public RowQuery filter(Filter next) {
    Filter all = filter.map(before -> Filter.chain(before, next)).orElse(next);
    return new RowQuery(ranges, families, columns, versions, times, rowLimit, Optional.of(all));
  }

  private static <T> List<T> append(List<T> list, T last) {
    List<T> longer = new ArrayList<>(list.size() + 1);
    longer.addAll(list);
    longer.add(last);
    return longer;
  }
}
