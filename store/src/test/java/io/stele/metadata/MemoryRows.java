package io.stele.metadata;

import io.stele.model.Bytes;
import io.stele.model.Cell;
import io.stele.model.Column;
import io.stele.model.Edit;
import io.stele.model.Mutation;
import io.stele.model.Row;
import io.stele.model.RowRange;
import io.stele.runtime.IoRunnable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** Rows in memory, of which each column has one version. */
final class MemoryRows implements RecordRows {
  private final TreeMap<Bytes, TreeMap<String, Cell>> rows = new TreeMap<>();
  private long now;
  private int read;
  private int editsMost;
  private Optional<IoRunnable> afterScan = Optional.empty();

  /** Has {@code work} done once, after the next scan. */
  synchronized void afterScan(IoRunnable work) {
    afterScan = Optional.of(work);
  }

  @Override
  public List<Row> scan(RowRange range, int limit) throws IOException {
    List<Row> found = find(range, limit);
    Optional<IoRunnable> work;
    synchronized (this) {
      work = afterScan;
      afterScan = Optional.empty();
    }
    if (work.isPresent()) {
      work.get().run();
    }
    return found;
  }

  private synchronized List<Row> find(RowRange range, int limit) {
    List<Row> found = new ArrayList<>();
    for (Map.Entry<Bytes, TreeMap<String, Cell>> row : rows.tailMap(range.start()).entrySet()) {
      if (found.size() == limit || !range.isBeforeEnd(row.getKey())) {
        break;
      }
      found.add(new Row(row.getKey(), List.copyOf(row.getValue().values())));
    }
    read += found.size();
    return found;
  }

  @Override
  public synchronized boolean update(Condition condition, Mutation mutation) {
    if (!value(mutation.row(), condition.column()).equals(condition.value())) {
      return false;
    }
    apply(mutation);
    return true;
  }

  synchronized Optional<Bytes> value(Bytes row, Column column) {
    return Optional.ofNullable(rows.get(row))
        .map(cells -> cells.get(key(column.family(), column.qualifier())))
        .map(Cell::value);
  }

  synchronized void apply(Mutation mutation) {
    TreeMap<String, Cell> row = rows.computeIfAbsent(mutation.row(), key -> new TreeMap<>());
    now++;
    editsMost = Math.max(editsMost, mutation.edits().size());
    for (Edit edit : mutation.edits()) {
      if (edit instanceof Edit.Put put) {
        row.put(
            key(put.family(), put.qualifier()),
            new Cell(put.family(), put.qualifier(), now, put.value()));
      } else if (edit instanceof Edit.DeleteColumn delete) {
        row.remove(key(delete.family(), delete.qualifier()));
      } else if (edit instanceof Edit.DeleteRow) {
        row.clear();
      } else {
        throw new IllegalArgumentException(edit.toString());
      }
    }
    if (row.isEmpty()) {
      rows.remove(mutation.row());
    }
  }

  /** How many rows all scans have read. */
  synchronized int read() {
    return read;
  }

  /** The edits of the largest mutation. */
  synchronized int editsMost() {
    return editsMost;
  }

  synchronized int size() {
    return rows.size();
  }

  private static String key(String family, Bytes qualifier) {
    return family + ":" + qualifier;
  }
}
