package io.stele.tablet;

import io.stele.model.Bytes;
import io.stele.model.Cell;
import io.stele.model.Column;
import io.stele.model.Filter;
import io.stele.model.Row;
import io.stele.model.RowQuery;
import io.stele.model.RowRange;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** What queries mean, said over a {@link PlainModel}. */
final class PlainQueries {
  private PlainQueries() {}

  /** What a query finds in the rows of {@code extent} at {@code nowMicros}. */
  static List<Row> rows(PlainModel model, RowQuery query, RowRange extent, long nowMicros) {
    List<Row> rows = new ArrayList<>();
    for (Map.Entry<Bytes, List<Cell>> row : model.visible(nowMicros).entrySet()) {
      boolean asked =
          query.ranges().isEmpty()
              || query.ranges().stream().anyMatch(range -> range.contains(row.getKey()));
      if (asked && extent.contains(row.getKey()) && rows.size() < query.rowLimit()) {
        List<Cell> cells = select(query, row.getValue());
        if (query.filter().isPresent() && !cells.isEmpty()) {
          cells = PlainFilters.apply(query.filter().get(), row.getKey(), cells);
        }
        if (!cells.isEmpty()) {
          rows.add(new Row(row.getKey(), cells));
        }
      }
    }
    return rows;
  }

  /** What a filter leaves of rows that were read without it, at most {@code rowLimit} of them. */
  static List<Row> filtered(List<Row> rows, Filter filter, long rowLimit) {
    return rows.stream()
        .map(row -> new Row(row.key(), PlainFilters.apply(filter, row.key(), row.cells())))
        .filter(row -> !row.cells().isEmpty())
        .limit(rowLimit)
        .toList();
  }

  private static List<Cell> select(RowQuery query, List<Cell> cells) {
    List<Cell> selected = new ArrayList<>();
    Map<Column, Integer> counts =
        new TreeMap<>(Comparator.comparing(Column::family).thenComparing(Column::qualifier));
    for (Cell cell : cells) {
      Column column = new Column(cell.family(), cell.qualifier());
      boolean wanted =
          (query.families().isEmpty() && query.columns().isEmpty())
              || query.families().contains(cell.family())
              || query.columns().contains(column);
      if (wanted
          && query.times().contains(cell.timestampMicros())
          && counts.merge(column, 1, Integer::sum) <= query.versions()) {
        selected.add(cell);
      }
    }
    return selected;
  }
}
