package io.stele.tablet;

import io.stele.model.Bytes;
import io.stele.model.Cell;
import io.stele.model.Column;
import io.stele.model.Edit;
import io.stele.model.GcPolicy;
import io.stele.model.Mutation;
import io.stele.model.RowRange;
import io.stele.model.TableSchema;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * What a table is, said as plainly as can be: maps in maps, and after each operation the garbage
 * collection policies applied at once. Nothing is kept that an operation has undone.
 */
final class PlainModel {
  /** A version, and whether there once were as many newer ones as its family's policy counts. */
  private static final class Version {
    final Bytes value;
    boolean pushedOut;

    Version(Bytes value, boolean pushedOut) {
      this.value = value;
      this.pushedOut = pushedOut;
    }
  }

  private final TableSchema schema;
  private final TreeMap<Bytes, TreeMap<Column, TreeMap<Long, Version>>> rows = new TreeMap<>();

  PlainModel(TableSchema schema) {
    this.schema = schema;
  }

  PlainModel copy() {
    PlainModel copy = new PlainModel(schema);
    rows.forEach(
        (row, columns) ->
            columns.forEach(
                (column, versions) ->
                    versions.forEach(
                        (timestamp, version) ->
                            copy.versions(row, column)
                                .put(timestamp, new Version(version.value, version.pushedOut)))));
    return copy;
  }

  /** Takes over what {@code other} holds; the policies here may count fewer versions. */
  void become(PlainModel other) {
    rows.clear();
    rows.putAll(other.copy().rows);
    rows.values().forEach(columns -> columns.forEach(this::collect));
  }

  /** Applies a mutation, of which no put waits for a timestamp any more. */
  void apply(Mutation mutation) {
    Bytes row = mutation.row();
    for (Edit edit : mutation.edits()) {
      switch (edit.kind()) {
        case PUT -> {
          Edit.Put put = (Edit.Put) edit;
          versions(row, new Column(put.family(), put.qualifier()))
              .put(put.timestampMicros(), new Version(put.value(), false));
        }
        case DELETE_CELL -> {
          Edit.DeleteCell delete = (Edit.DeleteCell) edit;
          versions(row, new Column(delete.family(), delete.qualifier()))
              .remove(delete.timestampMicros());
        }
        case DELETE_COLUMN -> {
          Edit.DeleteColumn delete = (Edit.DeleteColumn) edit;
          versions(row, new Column(delete.family(), delete.qualifier()))
              .keySet()
              .removeIf(delete.range()::contains);
        }
        case DELETE_FAMILY -> {
          String family = ((Edit.DeleteFamily) edit).family();
          columns(row).keySet().removeIf(column -> column.family().equals(family));
        }
        case DELETE_ROW -> rows.remove(row);
      }
    }
    columns(row).forEach(this::collect);
  }

  /** Removes what there is in these rows. */
  void clear(RowRange range) {
    rows.keySet().removeIf(range::contains);
  }

  /** Removes all there is of a family. */
  void erase(String family) {
    rows.values()
        .forEach(columns -> columns.keySet().removeIf(column -> column.family().equals(family)));
  }

  private void collect(Column column, TreeMap<Long, Version> versions) {
    int count = count(schema.family(column.family()).orElseThrow().gc());
    int live = 0;
    for (Version version : versions.descendingMap().values()) {
      if (!version.pushedOut && count > 0 && ++live > count) {
        version.pushedOut = true;
      }
    }
  }

  /** The rows with visible cells at {@code now}, with all of these. */
  TreeMap<Bytes, List<Cell>> visible(long now) {
    TreeMap<Bytes, List<Cell>> visible = new TreeMap<>();
    rows.keySet().forEach(row -> visible.put(row, row(row, now)));
    visible.values().removeIf(List::isEmpty);
    return visible;
  }

  /** The visible cells of a row, in order. */
  List<Cell> row(Bytes row, long now) {
    List<Cell> cells = new ArrayList<>();
    if (!rows.containsKey(row)) {
      return cells;
    }
    for (Map.Entry<Column, TreeMap<Long, Version>> column : rows.get(row).entrySet()) {
      String family = column.getKey().family();
      GcPolicy policy = schema.family(family).orElseThrow().gc();
      column
          .getValue()
          .descendingMap()
          .forEach(
              (timestamp, version) -> {
                if (!isGarbage(policy, version, now - timestamp)) {
                  cells.add(
                      new Cell(family, column.getKey().qualifier(), timestamp, version.value));
                }
              });
    }
    return cells;
  }

  private static boolean isGarbage(GcPolicy policy, Version version, long ageMicros) {
    return switch (policy.kind()) {
      case KEEP_ALL -> false;
      case MAX_VERSIONS -> version.pushedOut;
      case MAX_AGE -> ageMicros > ((GcPolicy.MaxAge) policy).age().toNanos() / 1000;
      case UNION ->
          ((GcPolicy.Union) policy)
              .policies().stream().anyMatch(one -> isGarbage(one, version, ageMicros));
      case INTERSECTION ->
          ((GcPolicy.Intersection) policy)
              .policies().stream().allMatch(one -> isGarbage(one, version, ageMicros));
    };
  }

  private static int count(GcPolicy policy) {
    return switch (policy.kind()) {
      case KEEP_ALL, MAX_AGE -> 0;
      case MAX_VERSIONS -> ((GcPolicy.MaxVersions) policy).count();
      case UNION -> count(((GcPolicy.Union) policy).policies());
      case INTERSECTION -> count(((GcPolicy.Intersection) policy).policies());
    };
  }

  private static int count(List<GcPolicy> policies) {
    return policies.stream().mapToInt(PlainModel::count).max().orElse(0);
  }

  private TreeMap<Column, TreeMap<Long, Version>> columns(Bytes row) {
    return rows.computeIfAbsent(
        row,
        absent ->
            new TreeMap<>(Comparator.comparing(Column::family).thenComparing(Column::qualifier)));
  }

  private TreeMap<Long, Version> versions(Bytes row, Column column) {
    return columns(row).computeIfAbsent(column, absent -> new TreeMap<>());
  }
}
