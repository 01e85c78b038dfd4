package io.stele.tablet;

import io.stele.format.ByteWriter;
import io.stele.format.CellCursor;
import io.stele.format.ColumnKey;
import io.stele.format.MalformedException;
import io.stele.model.Bytes;
import io.stele.model.Cell;
import io.stele.model.RowRange;
import io.stele.model.SteleException;
import io.stele.model.TimeRange;
import io.stele.runtime.MemoryClaim;
import java.io.Closeable;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * The cells that a read sees, row by row: the merged cells that {@link VersionFilter} keeps, of the
 * requested columns, with at most the requested number of versions. It seeks past other cells where
 * possible. It claims the memory of the cells that it collects, and of their copies in the answer.
 *
 * <p>Not safe for use by several threads.
 */
final class VisibleCells implements Closeable {
  /** A seek costs as much as several moves forward, so it is tried after this many. */
  private static final int MOVES_BEFORE_SEEK = 8;

  private static final int SEEK_WORK = 8;

  /** A column may have millions of cells that nobody sees: meanwhile the caller may give up. */
  private static final long WORK_BETWEEN_CHECKS = 4096;

  private static final byte[] UNBOUNDED = {};

  // The memory of a cell in the model and in the client's block, which may be twice as large.
  private static final int CELL_BYTES = 200;
  private static final int CELL_COPIES = 3;

  /**
   * How many bytes may be passed for each byte that may be taken: keys may be long, and much may be
   * garbage.
   */
  private static final int PASSED_FACTOR = 16;

  private final CellCursor source;
  private final VersionFilter versionFilter;
  private final ColumnSelection selection;
  private final int versions;
  private final TimeRange times;
  private final MemoryClaim memory;
  private boolean onCell;
  private long bytesPassed;
  private long work;
  private long workAtNextCheck = WORK_BETWEEN_CHECKS;

  // The row being taken.
  private byte[] rowPart = {};
  private int wanted;
  private int taken; // How many visible cells the last judged column has so far.
  private boolean resumed; // Nothing was judged since the row was resumed inside a column.
  private long skip; // How many visible cells of the first column were taken before.
  private boolean kept; // The cell here was judged already: taking stopped before it.

  VisibleCells(
      CellCursor source,
      VersionFilter versionFilter,
      ColumnSelection selection,
      int versions,
      TimeRange times,
      MemoryClaim memory) {
    this.source = source;
    this.versionFilter = versionFilter;
    this.selection = selection;
    this.versions = versions;
    this.times = times;
    this.memory = memory.inSteps();
  }

  /** Moves to the first row at or above {@code row}; rows only ever go up. */
  boolean seekRow(Bytes row) throws IOException {
    byte[] target = ColumnKey.ofRow(row);
    boolean isThere =
        onCell
            && Arrays.compareUnsigned(source.key(), 0, source.keyLength(), target, 0, target.length)
                >= 0;
    if (!isThere) {
      work += SEEK_WORK;
      onCell = source.seek(target);
    }
    return onCell;
  }

  /** Whether there is a row here. */
  boolean hasRow() {
    return onCell;
  }

  /** Whether the row here is below the end of a range, given as {@link #end}. */
  boolean isBefore(byte[] end) {
    return end.length == 0
        || Arrays.compareUnsigned(source.key(), 0, source.keyLength(), end, 0, end.length) < 0;
  }

  /** The end of {@code range}, as a key. */
  static byte[] end(RowRange range) {
    return range.end().isEmpty() ? UNBOUNDED : ColumnKey.ofRow(range.end());
  }

  /** The key of the row here. */
  Bytes row() throws IOException {
    return ColumnKey.row(source.key(), source.keyLength());
  }

  /** Roughly how many bytes of cells were read so far, seen or not. */
  long bytesPassed() {
    return bytesPassed;
  }

  /** The work so far: one for each cell passed, and for a seek as many cells as it may cost. */
  long work() {
    return work;
  }

  /** Collects the visible cells of the current row, possibly none, and moves to the next row. */
  List<Cell> takeRow() throws IOException {
    ModelCells cells = new ModelCells();
    beginRow();
    takeCells(cells, Long.MAX_VALUE, Long.MAX_VALUE);
    return cells.remove();
  }

  /** The key of the row that is collected, which this may have moved beyond. */
  Bytes takenRow() throws IOException {
    return ColumnKey.ofRowPart(rowPart);
  }

  /** Computes the ages of all following rows from another time, in microseconds. */
  void agesFrom(long nowMicros) {
    versionFilter.agesFrom(nowMicros);
  }

  /** Begins to collect the current row. */
  void beginRow() throws IOException {
    int rowEnd = ColumnKey.rowPartLength(source.key(), source.keyLength());
    rowPart = Arrays.copyOf(source.key(), rowEnd);
    versionFilter.beginRow();
    wanted = 0;
    taken = 0;
    resumed = false;
    skip = 0;
    kept = false;
  }

  /** Begins to collect {@code row} from a position on, before anything else was collected. */
  void resumeRow(Bytes row, RowPosition position) throws IOException {
    rowPart = ColumnKey.ofRow(row);
    byte[] key =
        new ByteWriter(rowPart.length + position.column().length())
            .write(rowPart, 0, rowPart.length)
            .write(position.column())
            .toByteArray();
    int familyEnd;
    try {
      familyEnd = ColumnKey.familyPartEnd(key, key.length, rowPart.length);
    } catch (MalformedException e) {
      throw new SteleException(
          SteleException.Code.REFUSED, "a position inside a row names no column", e);
    }
    versionFilter.beginRow();
    onCell = source.seek(rowPart);
    judgeTombstones(key, rowPart.length);
    if (familyEnd > rowPart.length) {
      onCell = source.seek(key, familyEnd);
      judgeTombstones(key, familyEnd);
    }
    if (familyEnd < key.length) {
      onCell = source.seek(key);
    }
    if (isAt(key, key.length) && position.versions() > 0) {
      skip = position.versions();
      resumed = true;
    }
  }

  /**
   * Shows {@code versionFilter} the tombstones of the row or family that the first {@code length}
   * bytes of {@code key} name. A compaction may have dropped them, and even all of the row: then
   * what is here belongs to something else.
   */
  private void judgeTombstones(byte[] key, int length) throws IOException {
    while (isAt(key, length)) {
      versionFilter.judge(source);
      onCell = source.next();
    }
  }

  private boolean isAt(byte[] key, int length) {
    return onCell
        && source.keyLength() == length
        && Arrays.equals(source.key(), 0, length, key, 0, length);
  }

  /**
   * Where collecting stopped.
   *
   * @param filter the filter's state
   * @param moment of the row; empty at a pin
   */
  RowPosition position(Bytes filter, Optional<RowMoment> moment) throws IOException {
    int rowEnd = rowPart.length;
    return new RowPosition(
        takenRow(),
        Bytes.of(source.key(), rowEnd, source.keyLength() - rowEnd),
        versionFilter.isOfLastColumn(source) ? taken : 0,
        filter,
        moment);
  }

  /**
   * Gives visible cells of the current row to {@code cells}.
   *
   * @param bytesMax stops before the cell that would exceed this many bytes, but not before the
   *     first
   * @param workMax stops after this much work, at the end of a column, and when it has passed many
   *     times as many bytes as it may take; {@link Long#MAX_VALUE}: it does neither
   * @return whether the row is done and this is at the next row; otherwise collecting continues
   *     from {@link #position}
   */
  boolean takeCells(CellSink cells, long bytesMax, long workMax) throws IOException {
    return takeCells(cells, bytesMax, workMax, false);
  }

  /**
   * Gives all visible cells of the current row to {@code cells}, unless it is too much.
   *
   * @param bytesMax not more bytes than this, but one cell in any case
   * @param workMax not more work than this, wherever it ends
   * @return whether the row is done and this is at the next row; otherwise collecting cannot go on
   */
  boolean takeFewCells(CellSink cells, long bytesMax, long workMax) throws IOException {
    return takeCells(cells, bytesMax, workMax, true);
  }

  private boolean takeCells(CellSink cells, long bytesMax, long workMax, boolean stopsAnywhere)
      throws IOException {
    int rowEnd = rowPart.length;
    boolean any = false;
    long bytes = 0;
    long workEnd = workMax > Long.MAX_VALUE - work ? Long.MAX_VALUE : work + workMax;
    long passedEnd =
        workMax == Long.MAX_VALUE ? Long.MAX_VALUE : bytesPassed + PASSED_FACTOR * bytesMax;
    while (onCell && ColumnKey.sameRow(source.key(), source.keyLength(), rowPart, rowEnd)) {
      if ((work >= workEnd || bytesPassed >= passedEnd)
          && (stopsAnywhere || !versionFilter.isOfLastColumn(source))) {
        return false;
      }
      work++;
      if (work >= workAtNextCheck) {
        workAtNextCheck = work + WORK_BETWEEN_CHECKS;
        memory.requireWanted();
      }
      if (!selection.isAll() && source.keyLength() > rowEnd) {
        wanted = passUnwanted(rowPart, wanted);
        if (wanted < 0) {
          continue; // Moved on: to what is wanted, or past the row.
        }
      }
      bytesPassed += source.keyLength() + source.valueLength();
      VersionFilter.Verdict verdict = kept ? VersionFilter.Verdict.KEEP : judge();
      kept = false;
      switch (verdict) {
        case KEEP, KEEP_AS_SURPLUS -> {
          if (times.contains(source.timestamp())) {
            if (taken >= skip) {
              int cellBytes = source.keyLength() - rowEnd + source.valueLength();
              bytes += cellBytes;
              if (bytes > bytesMax && any) {
                kept = true;
                return false;
              }
              memory.take(CELL_BYTES + CELL_COPIES * (long) cellBytes);
              cells.take(source, versionFilter.family(), versionFilter.familyEnd());
              any = true;
            }
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
    return true;
  }

  private VersionFilter.Verdict judge() throws IOException {
    VersionFilter.Verdict verdict = versionFilter.judge(source);
    if (versionFilter.beganColumn()) {
      taken = 0;
      if (!resumed) {
        skip = 0;
      }
      resumed = false;
    }
    return verdict;
  }

  @Override
  public void close() throws IOException {
    source.close();
  }

  /**
   * Moves forward if the current cell is not wanted.
   *
   * @return the prefix for which the current cell is wanted; after a move, the complement of the
   *     prefix to continue with
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
    work += SEEK_WORK;
    onCell = source.seek(order < 0 ? family : selection.target(rowPart, rowEnd, i, false));
    return ~i;
  }

  private void nextColumn() throws IOException {
    byte[] column = versionFilter.key();
    int length = source.keyLength();
    for (int moves = 0; moves < MOVES_BEFORE_SEEK; moves++) {
      onCell = source.next();
      if (!onCell
          || source.keyLength() != length
          || !Arrays.equals(source.key(), 0, length, column, 0, length)) {
        return;
      }
    }
    work += SEEK_WORK;
    onCell = source.seek(Arrays.copyOf(column, length + 1)); // The least key above the column's.
  }

  private void seekAfter(byte[] rowPart) throws IOException {
    byte[] after = rowPart.clone();
    after[after.length - 1] = 1;
    work += SEEK_WORK;
    onCell = source.seek(after);
  }
}
