package io.stele.memtable;

import io.stele.format.CellCursor;
import io.stele.format.CellType;
import java.util.Arrays;
import java.util.Iterator;
import java.util.NavigableSet;

/** Goes through the cells of a memtable that a read point lets through. */
final class MemtableCursor implements CellCursor {
  private final NavigableSet<MemtableCell> cells;
  private final long readPoint;
  private Iterator<MemtableCell> rest;
  private MemtableCell cell;

  MemtableCursor(NavigableSet<MemtableCell> cells, long readPoint) {
    this.cells = cells;
    this.readPoint = readPoint;
  }

  @Override
  public boolean seek(byte[] key, int length) {
    rest = cells.tailSet(MemtableCell.before(Arrays.copyOf(key, length)), true).iterator();
    return next();
  }

  @Override
  public boolean next() {
    if (rest == null) {
      rest = cells.iterator();
    }
    while (rest.hasNext()) {
      MemtableCell candidate = rest.next();
      if (candidate.sequence <= readPoint) {
        cell = candidate;
        return true;
      }
    }
    return false;
  }

  @Override
  public byte[] key() {
    return cell.key;
  }

  @Override
  public int keyLength() {
    return cell.key.length;
  }

  @Override
  public long timestamp() {
    return cell.timestamp;
  }

  @Override
  public long sequence() {
    return cell.sequence;
  }

  @Override
  public int ordinal() {
    return cell.ordinal;
  }

  @Override
  public CellType type() {
    return cell.type;
  }

  @Override
  public byte[] valueArray() {
    return cell.value;
  }

  @Override
  public int valueOffset() {
    return 0;
  }

  @Override
  public int valueLength() {
    return cell.value.length;
  }
}
