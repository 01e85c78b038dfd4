package io.stele.tablet;

import io.stele.format.CellCursor;
import io.stele.format.ColumnKey;
import io.stele.model.Bytes;
import io.stele.model.Cell;
import io.stele.model.TimeRange;
import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The cells that a read sees, row by row: merged cells through the sieve, of the columns wanted,
 * not more versions than asked for. Where it can it seeks instead of going through what nobody
 * wants.
 *
 * <p>Not safe for use by several threads.
 */
final class VisibleCells implements Closeable {
  /** A seek costs as much as some moves forward: it is tried after this many. */
  private static final int MOVES_BEFORE_SEEK = 8;

  private final CellCursor source;
  private final CellSieve sieve;
  private final ColumnSelection selection;
  private final int versions;
  private final TimeRange times;
  private boolean onCell;
  private long bytesPassed;

  VisibleCells(
      CellCursor source,
      CellSieve sieve,
      ColumnSelection selection,
      int versions,
      TimeRange times) {
    this.source = source;
    this.sieve = sieve;
    this.selection = selection;
    this.versions = versions;
    this.times = times;
  }

  /** Moves to the first row at or above {@code row}; rows only ever go up. */
  boolean seekRow(Bytes row) throws IOException {
    byte[] target = ColumnKey.ofRow(row);
    onCell =
        (onCell
                && Arrays.compareUnsigned(
                        source.key(), 0, source.keyLength(), target, 0, target.length)
                    >= 0)
            || source.seek(target);
    return onCell;
  }

  /** Whether there is a row here. */
  boolean hasRow() {
    return onCell;
  }

  /** The key of the row here. */
  Bytes row() throws IOException {
    return ColumnKey.row(source.key(), source.keyLength());
  }

  /** Roughly how many bytes of cells were gone through so far, seen or not. */
  long bytesPassed() {
    return bytesPassed;
  }

  /** Collects the visible cells of the row here, which may be none, and moves to the row after. */
  List<Cell> takeRow() throws IOException {
    List<Cell> cells = new ArrayList<>();
    int rowEnd = ColumnKey.rowPartLength(source.key(), source.keyLength());
    byte[] rowPart = Arrays.copyOf(source.key(), rowEnd);
    int wanted = 0;
    byte[] column = rowPart; // The column of the last visible cell.
    int taken = 0;
    Bytes qualifier = Bytes.EMPTY;
    while (onCell && ColumnKey.sameRow(source.key(), source.keyLength(), rowPart, rowEnd)) {
      if (!selection.isAll() && source.keyLength() > rowEnd) {
        wanted = passUnwanted(rowPart, wanted);
        if (wanted < 0) {
          continue; // Moved on: to what is wanted, or past the row.
        }
      }
      bytesPassed += source.keyLength() + source.valueLength();
      switch (sieve.judge(source)) {
        case KEEP, KEEP_AS_SURPLUS -> {
          if (!sameKey(column)) {
            column = Arrays.copyOf(source.key(), source.keyLength());
            taken = 0;
            qualifier = ColumnKey.column(column, column.length).qualifier();
          }
          if (times.contains(source.timestamp())) {
            cells.add(cell(qualifier));
            taken++;
          }
          if (taken >= versions || source.timestamp() <= times.fromMicros()) {
            nextColumn();
          } else {
            onCell = source.next();
          }
        }
        case DROP -> onCell = source.next();
        case DROP_COLUMN -> nextColumn();
      }
    }
    return cells;
  }

  @Override
  public void close() throws IOException {
    source.close();
  }

  /**
   * Moves on where the current cell is not wanted.
   *
   * @return the prefix that the current cell is wanted for; where it moved, the complement of the
   *     prefix to go on with
   */
  private int passUnwanted(byte[] rowPart, int from) throws IOException {
    int rowEnd = rowPart.length;
    int i = from < 0 ? ~from : from;
    byte[] key = source.key();
    int length = source.keyLength();
    while (i < selection.size() && selection.compare(key, length, rowEnd, i) > 0) {
      i++;
    }
    if (i == selection.size()) {
      seekAfter(rowPart);
      return ~i;
    }
    if (selection.compare(key, length, rowEnd, i) == 0) {
      return i;
    }
    byte[] family = selection.target(rowPart, rowEnd, i, true);
    int order = Arrays.compareUnsigned(key, 0, length, family, 0, family.length);
    if (order == 0) {
      return i; // The tombstone of the wanted column's family.
    }
    onCell = source.seek(order < 0 ? family : selection.target(rowPart, rowEnd, i, false));
    return ~i;
  }

  private void nextColumn() throws IOException {
    byte[] column = sieve.key();
    int length = source.keyLength();
    for (int moves = 0; moves < MOVES_BEFORE_SEEK; moves++) {
      onCell = source.next();
      if (!onCell
          || source.keyLength() != length
          || !Arrays.equals(source.key(), 0, length, column, 0, length)) {
        return;
      }
    }
    onCell = source.seek(Arrays.copyOf(column, length + 1)); // The least key above the column's.
  }

  private void seekAfter(byte[] rowPart) throws IOException {
    byte[] after = rowPart.clone();
    after[after.length - 1] = 1;
    onCell = source.seek(after);
  }

  private boolean sameKey(byte[] column) {
    return source.keyLength() == column.length
        && Arrays.equals(source.key(), 0, column.length, column, 0, column.length);
  }

  private Cell cell(Bytes qualifier) {
    return new Cell(
        sieve.family(),
        qualifier,
        source.timestamp(),
        Bytes.of(source.valueArray(), source.valueOffset(), source.valueLength()));
  }
}
