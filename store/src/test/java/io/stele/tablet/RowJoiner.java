package io.stele.tablet;

import io.stele.model.Bytes;
import io.stele.model.Cell;
import io.stele.model.Row;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Puts pages together of which some end inside a row, as a client does. */
final class RowJoiner {
  final List<Row> rows = new ArrayList<>();
  private Optional<Bytes> open = Optional.empty();

  void add(ReadResult page) {
    for (Row row : page.rows()) {
      if (open.isPresent() && isLast(open.get()) && row.key().equals(open.get())) {
        List<Cell> cells = new ArrayList<>(rows.remove(rows.size() - 1).cells());
        cells.addAll(row.cells());
        rows.add(new Row(row.key(), cells));
      } else {
        rows.add(row);
      }
    }
    open = page.position().flatMap(place -> page.nextRow());
  }

  /** The row that a part came of begins anew. */
  void restart() {
    if (open.isPresent() && isLast(open.get())) {
      rows.remove(rows.size() - 1);
    }
    open = Optional.empty();
  }

  /** How many rows are whole. */
  int whole() {
    return rows.size() - (open.isPresent() && isLast(open.get()) ? 1 : 0);
  }

  List<Row> first(long limit) {
    return rows.subList(0, (int) Math.min(rows.size(), limit));
  }

  private boolean isLast(Bytes key) {
    return !rows.isEmpty() && rows.get(rows.size() - 1).key().equals(key);
  }
}
