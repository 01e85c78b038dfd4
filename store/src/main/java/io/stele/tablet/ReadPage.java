package io.stele.tablet;

import io.stele.model.Bytes;
import io.stele.model.Cell;
import io.stele.model.Limits;
import io.stele.model.Row;
import io.stele.model.RowQuery;
import io.stele.model.SteleException;
import io.stele.model.SteleException.Code;
import io.stele.sstable.NotInMemoryException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The page being read. It takes rows from {@link VisibleCells}, filters them, and ends when it is
 * full. Rows, bytes, work (cells passed and seeks) and time limit it. Every page makes progress.
 *
 * <p>A row of more bytes than a part may have is read part by part if the request allows it, and
 * the page may end inside it. Not safe for use by several threads.
 */
final class ReadPage {
  /** A page that finds little ends after reading this many times its size. */
  private static final long PASSED_FACTOR = 16;

  /** A page ends after this many cells, each seek counting as several. */
  private static final long WORK_MAX = 100_000;

  /** A row that must be returned whole has at most this many bytes, to fit into one frame. */
  private static final long WHOLE_ROW_BYTES_MAX = 112L << 20;

  /** A memory-only read runs where others wait for it, so it stops after this much work. */
  private static final long MEMORY_ONLY_BYTES_MAX = 256 << 10;

  private static final long MEMORY_ONLY_WORK_MAX = 10_000;

  final ReadRequest request;
  final List<Row> rows = new ArrayList<>();
  Optional<Bytes> next = Optional.empty();
  Optional<Bytes> position = Optional.empty();
  Optional<RowPosition> resume;

  private final TabletCore core;
  private final Optional<RowFilter> filter;
  private final long bytesMax;
  private final long nanosMax;
  private long bytes;
  private long passed;
  private long passedBefore; // Before the cells that are read now.
  private long work;
  private long workBefore;
  private long rowsPassed;
  private long beginNanos;

  /** An empty page of rows at {@code readPoint}. */
  ReadPage(ReadRequest request, long readPoint, TabletCore core) {
    this.request = request;
    this.core = core;
    RowQuery query = request.query();
    this.filter = query.filter().map(RowFilter::of);
    long asked = request.bytesMax() > 0 ? request.bytesMax() : core.options().page().bytesMax();
    this.bytesMax = Math.min(asked, Limits.PAGE_BYTES_MAX);
    this.nanosMax = core.options().page().timeMax().toNanos();
    // At another read point a part would not match those before it: the row starts again.
    boolean samePoint = request.readPoint().orElse(-1) == readPoint;
    this.resume =
        samePoint ? request.parts().position().map(RowPosition::decode) : Optional.empty();
  }

  /** Starts to take rows from other cells. */
  void nextRange() {
    passedBefore = passed;
    workBefore = work;
  }

  /** A row of {@code cells}, or a part of one, was read. */
  void passed(VisibleCells cells) {
    passed = passedBefore + cells.bytesPassed();
    work = workBefore + cells.work();
    rowsPassed++;
    if (rowsPassed == 1) {
      beginNanos = core.environment().runtime().nanoTime(); // A read of one row needs no time.
    }
  }

  boolean isFull() {
    return position.isPresent()
        || rows.size() >= request.query().rowLimit()
        || bytes >= bytesMax
        || isTired();
  }

  private boolean isTired() {
    return passed / PASSED_FACTOR >= bytesMax
        || work >= WORK_MAX
        || (rowsPassed > 1 && core.environment().runtime().nanoTime() - beginNanos >= nanosMax);
  }

  /**
   * Adds the current row. If there is no memory for it, the page ends before it, so that memory is
   * used for few rows rather than refused to all.
   *
   * @return whether the whole row was taken; if not, this page is at its end
   */
  boolean addRow(Bytes row, VisibleCells cells) throws IOException {
    try {
      return takeRow(row, cells);
    } catch (SteleException e) {
      if (rows.isEmpty() || (e.code() != Code.RETRY_LATER && e.code() != Code.REFUSED)) {
        throw e;
      }
      next = Optional.of(row);
      return false;
    }
  }

  private boolean takeRow(Bytes row, VisibleCells cells) throws IOException {
    List<Cell> visible = new ArrayList<>();
    cells.beginRow();
    boolean inParts = request.parts().bytesMax() > 0;
    if (request.memoryOnly()) {
      if (!cells.takeCells(visible, MEMORY_ONLY_BYTES_MAX, MEMORY_ONLY_WORK_MAX)) {
        throw new NotInMemoryException();
      }
    } else if (inParts) {
      if (!cells.takeCells(visible, partBytes(), workLeft())) {
        return addParts(row, cells, Optional.empty(), visible);
      }
    } else if (!cells.takeCells(visible, WHOLE_ROW_BYTES_MAX, Long.MAX_VALUE)) {
      throw SteleException.refused(
          "row \""
              + row
              + "\" has more than "
              + WHOLE_ROW_BYTES_MAX
              + " bytes: read it in parts, or read fewer columns");
    }
    add(row, filter.isPresent() && !visible.isEmpty() ? filter.get().apply(row, visible) : visible);
    return true;
  }

  /**
   * Adds cells of a row that is returned in parts.
   *
   * @param from the position of {@code cells} in the row; empty: at its beginning
   * @param part visible cells already taken
   * @return whether the whole row was taken; if not, this page is at its end
   */
  boolean addParts(Bytes row, VisibleCells cells, Optional<RowPosition> from, List<Cell> part)
      throws IOException {
    Optional<FilterFlow> flow = request.query().filter().map(FilterFlow::of);
    from.filter(at -> !at.filter().isEmpty())
        .ifPresent(at -> flow.ifPresent(state -> state.goOn(at.filter())));
    List<Cell> visible = part;
    boolean done = false;
    if (visible.isEmpty()) {
      done = cells.takeCells(visible, partBytes(), workLeft());
    }
    List<Cell> found = new ArrayList<>();
    long foundBytes = 0;
    while (true) {
      boolean decided = flow.map(FilterFlow::isDecided).orElse(true);
      List<Cell> some = visible;
      if (flow.isPresent()) {
        some = flow.get().apply(row, visible);
      }
      if (decided) {
        found.addAll(some);
        foundBytes += bytes(some);
      }
      if (done && decided) {
        add(row, found);
        return true;
      }
      passed(cells);
      if (done || foundBytes >= partBytes() || isTired()) {
        if (done) {
          flow.ifPresent(FilterFlow::endPass);
        }
        add(row, found);
        Bytes state = flow.map(FilterFlow::state).orElse(Bytes.EMPTY);
        RowPosition at =
            done ? new RowPosition(row, Bytes.EMPTY, 0, state) : cells.position(row, state);
        next = Optional.of(row);
        position = Optional.of(at.encode());
        return false;
      }
      visible = new ArrayList<>();
      done = cells.takeCells(visible, partBytes(), workLeft());
    }
  }

  private long partBytes() {
    return Math.min(request.parts().bytesMax(), Limits.PAGE_BYTES_MAX);
  }

  /**
   * The work left, so that a page near its limit still makes some progress in the row that it
   * began.
   */
  private long workLeft() {
    return Math.max(WORK_MAX - work, 1);
  }

  private void add(Bytes row, List<Cell> found) {
    if (!found.isEmpty()) {
      rows.add(new Row(row, found));
      bytes += row.length() + bytes(found);
    }
  }

  private static long bytes(List<Cell> cells) {
    long bytes = 0;
    for (Cell cell : cells) {
      bytes += cell.family().length() + cell.qualifier().length() + cell.value().length() + 8;
    }
    return bytes;
  }
}
