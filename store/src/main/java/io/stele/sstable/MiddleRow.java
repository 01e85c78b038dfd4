package io.stele.sstable;

import io.stele.format.CellCursor;
import io.stele.format.ColumnKey;
import io.stele.model.Bytes;
import io.stele.model.RowRange;
import java.io.IOException;
import java.util.Arrays;
import java.util.Optional;

/** Finds the row that best halves an SSTable's cells of a range; both parts have cells. */
final class MiddleRow {
  private final SSTable table;
  private final RowRange bounds;

  /** The lowest row that there is in bounds: no row to cut at. */
  private Bytes first = Bytes.EMPTY;

  MiddleRow(SSTable table, RowRange bounds) {
    this.table = table;
    this.bounds = bounds;
  }

  Optional<Bytes> find() throws IOException {
    try (CellCursor cells = table.cursor(bounds, ReadOptions.POINT)) {
      if (!cells.next()) {
        return Optional.empty();
      }
      first = ColumnKey.row(cells.key(), cells.keyLength());
    }
    long start = table.offsetOf(first, 0);
    long end = table.offsetOf(bounds.end(), table.dataEnd());
    long middle = start + (end - start) / 2;
    IndexCursor index = table.index(ReadOptions.POINT);
    index.seekOffset(middle);
    // The row that the block in the middle begins with, and the one that a later block begins with:
    // where the middle is in a large row, they are where it begins and after it ends.
    Optional<Bytes> before = rowOf(index);
    Optional<Bytes> after = rowAfter(before.orElse(first), index);
    if (before.isPresent() && after.isPresent()) {
      long beforeOffset = table.offsetOf(before.get(), start);
      long afterOffset = table.offsetOf(after.get(), end);
      return middle - beforeOffset <= afterOffset - middle ? before : after;
    }
    if (before.isPresent() || after.isPresent()) {
      return before.isPresent() ? before : after;
    }
    return rowInside();
  }

  /** The row that the first block above {@code row} begins with. */
  private Optional<Bytes> rowAfter(Bytes row, IndexCursor index) throws IOException {
    byte[] key = ColumnKey.afterRow(row);
    index.seek(key, key.length);
    // The block found may begin below the key; the one after begins above it.
    return index.compareKey(key, key.length) >= 0 || index.next() ? rowOf(index) : Optional.empty();
  }

  /** The lowest row not below the key of an index entry, if one may cut there. */
  private Optional<Bytes> rowOf(IndexCursor index) throws IOException {
    Bytes row = rowAt(index.key());
    return cuts(row) ? Optional.of(row) : Optional.empty();
  }

  /** Whether there are cells in bounds on both sides of where {@code row} begins. */
  private boolean cuts(Bytes row) throws IOException {
    if (row.compareTo(first) <= 0 || !bounds.isBeforeEnd(row)) {
      return false;
    }
    try (CellCursor cells = table.cursor(new RowRange(row, bounds.end()), ReadOptions.POINT)) {
      return cells.next();
    }
  }

  /** The row whose row part begins with {@code key} or that {@code key} begins with. */
  static Bytes rowAt(byte[] key) {
    byte[] row = new byte[key.length];
    int size = 0;
    for (int i = 0; i < key.length; i++) {
      if (key[i] != 0) {
        row[size++] = key[i];
      } else if (i + 1 < key.length && key[i + 1] != 0) {
        row[size++] = 0;
        i++;
      } else {
        break;
      }
    }
    return Bytes.wrap(Arrays.copyOf(row, size));
  }

  /**
   * A row inside a block, for when no block begins with a row to cut at: as near to half as is
   * cheap.
   */
  private Optional<Bytes> rowInside() throws IOException {
    if (table.bytesIn(bounds) > 0) {
      return rowAfterFirst(); // The first row is larger than all others together.
    }
    long all = 0;
    try (CellCursor cells = table.cursor(bounds, ReadOptions.POINT)) {
      while (cells.next()) {
        all += cells.keyLength() + cells.valueLength();
      }
    }
    long before = 0;
    Bytes row = first;
    try (CellCursor cells = table.cursor(bounds, ReadOptions.POINT)) {
      while (cells.next() && (row.equals(first) || before < all / 2)) {
        row = ColumnKey.row(cells.key(), cells.keyLength());
        before += cells.keyLength() + cells.valueLength();
      }
    }
    return row.equals(first) ? Optional.empty() : Optional.of(row);
  }

  private Optional<Bytes> rowAfterFirst() throws IOException {
    try (CellCursor cells = table.cursor(bounds, ReadOptions.POINT)) {
      return cells.seek(ColumnKey.afterRow(first))
          ? Optional.of(ColumnKey.row(cells.key(), cells.keyLength()))
          : Optional.empty();
    }
  }
}
