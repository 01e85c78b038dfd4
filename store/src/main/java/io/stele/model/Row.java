package io.stele.model;

import java.io.Serializable;
import java.util.List;
import java.util.Optional;

/**
 * What a read found under one row key: cells in order of family, qualifier, and timestamp from new
 * to old.
 *
 * @param key the row key
 * @param cells the cells; never empty in what a read returns
 */
public record Row(Bytes key, List<Cell> cells) implements Serializable {
  public Row {
    cells = List.copyOf(cells);
  }

  /** The newest version of a column, if the read returned one. */
  public Optional<Cell> cell(String family, Bytes qualifier) {
    Column column = new Column(family, qualifier);
    return cells.stream().filter(cell -> cell.isOf(column)).findFirst();
  }

  /** The newest value of a column, if the read returned one. */
  public Optional<Bytes> value(String family, Bytes qualifier) {
    return cell(family, qualifier).map(Cell::value);
  }

  /** The newest value of a column, if the read returned one. */
  public Optional<Bytes> value(String family, String qualifier) {
    return value(family, Bytes.of(qualifier));
  }

  /** The versions of a column that the read returned, from new to old. */
  public List<Cell> cells(String family, Bytes qualifier) {
    Column column = new Column(family, qualifier);
    return cells.stream().filter(cell -> cell.isOf(column)).toList();
  }

  /** The versions of a column that the read returned, from new to old. */
  public List<Cell> cells(String family, String qualifier) {
    return cells(family, Bytes.of(qualifier));
  }

  /** The cells of one family, in order. */
  public List<Cell> family(String family) {
    return cells.stream().filter(cell -> cell.family().equals(family)).toList();
  }

  @Override
  public String toString() {
    return key + " " + cells;
  }
}
