package io.stele.tablet;

import io.stele.format.CellBlockWriter;
import io.stele.format.RowCodec;
import io.stele.model.Bytes;
import io.stele.model.Cell;
import io.stele.model.Limits;
import io.stele.model.RowQuery;
import io.stele.model.RowRange;
import io.stele.model.SteleException;
import io.stele.model.SteleException.Code;
import io.stele.sstable.NotInMemoryException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;

/**
 * The page being read, a block as {@link RowCodec} defines it. Visible cells go into it straight
 * from their cursor, or where there is a filter, what it lets through. It ends when it is full.
 * Rows, bytes, work (cells passed and seeks) and time limit it. Every page makes progress.
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

  /** Of a cell that a filter made, beside qualifier and value. */
  private static final int MADE_CELL_BYTES = 64;

  private static final int MADE_COPIES = 3; // The block is copied as it grows.

  /** The memory that a block begins with. */
  private static final int ROW_BYTES = 1 << 10;

  private static final int FIRST_BYTES = 8 << 10;

  /** By how much the last row may exceed a page without its block having to grow. */
  private static final int SPARE_BYTES = 64 << 10;

  private static final long WHOLE_PAGE_BYTES = 1 << 20;

  final ReadRequest request;
  final ColumnSelection columns; // The same for all ranges.
  Optional<Bytes> next = Optional.empty();
  Optional<Bytes> position = Optional.empty();
  Optional<RowPosition> resume;
  Optional<RowMoment> moment; // Of the current row; empty at a pin.

  private final TabletCore core;
  private final boolean restarted;
  private final Optional<RowFilter> filter;
  private final long bytesMax;
  private final long nanosMax;
  private final CellBlockWriter block;
  private final ModelCells unfiltered = new ModelCells(); // Used where there is a filter.
  private final CellSink sink;
  private int rows;
  private int rowStart; // Where the current row begins in the block.
  private long firstRead = -1; // Not asked for yet.
  private long passed;
  private long passedBefore; // Before the cells that are read now.
  private long work;
  private long workBefore;
  private long steps; // Rows, parts of rows and ranges that were read.
  private long rowsPassed; // Whole ones.
  private long beginNanos;
  private long cursorBytes; // Taken for the cursors of one range, and then for those of the next.

  /**
   * An empty page.
   *
   * @param resume where inside its first row it begins
   * @param moment of rows that are begun now; empty at a pin
   */
  ReadPage(
      ReadRequest request,
      Optional<RowPosition> resume,
      Optional<RowMoment> moment,
      TabletCore core) {
    this.request = request;
    this.resume = resume;
    this.moment = moment.flatMap(now -> resume.map(RowPosition::moment).orElse(moment));
    this.restarted = request.parts().position().isPresent() && resume.isEmpty();
    this.core = core;
    RowQuery query = request.query();
    this.columns = ColumnSelection.of(query.families(), query.columns());
    this.filter = query.filter().map(one -> RowFilter.of(one, request.memory()));
    long asked = request.bytesMax() > 0 ? request.bytesMax() : core.options().page().bytesMax();
    this.bytesMax = Math.min(asked, Limits.PAGE_BYTES_MAX);
    this.nanosMax = core.options().page().timeMax().toNanos();
    this.block = CellBlockWriter.sequential(firstBytes());
    this.sink =
        filter.isPresent() ? unfiltered : (cell, family, end) -> RowCodec.write(cell, block);
  }

  /** The memory to begin with: of a scan that goes on, for all of the page, so as not to grow. */
  private int firstBytes() {
    List<RowRange> ranges = request.query().ranges();
    if (ranges.size() == 1 && ranges.get(0).isSingle()) {
      return ROW_BYTES;
    }
    if (request.readPoint().isEmpty() || bytesMax > WHOLE_PAGE_BYTES) {
      return FIRST_BYTES;
    }
    int whole = (int) bytesMax + SPARE_BYTES;
    return takes(whole) ? whole : FIRST_BYTES;
  }

  /** Takes memory that makes the page faster, if there is some: it is possible without, too. */
  private boolean takes(long memoryBytes) {
    try {
      request.memory().take(memoryBytes);
      return true;
    } catch (SteleException e) {
      if (e.code() != Code.RETRY_LATER && e.code() != Code.REFUSED) {
        throw e;
      }
      return false;
    }
  }

  /** How much to read of files at first: what is likely to fill the page. */
  long firstReadBytes() {
    if (firstRead < 0) {
      long bytes = Math.min(bytesMax, WHOLE_PAGE_BYTES);
      firstRead = takes(bytes) ? bytes : 0;
    }
    return Math.max(0, Math.min(firstRead, bytesMax - rowStart));
  }

  /** Takes the memory of the cursors of a range: those of the range before it are closed. */
  void takeForCursors(long bytes) {
    if (bytes > cursorBytes && !request.memoryOnly()) {
      request.memory().take(bytes - cursorBytes);
      cursorBytes = bytes;
    }
  }

  /** Starts to take rows from other cells. */
  void nextRange() {
    passedBefore = passed;
    workBefore = work;
  }

  /** A row of {@code cells} was read to its end. */
  void passedRow(VisibleCells cells) {
    passed(cells);
    rowsPassed++;
  }

  /** There are no more rows in {@code cells}. To find that out took seeking in all files. */
  void passedRange(VisibleCells cells) {
    passed(cells);
  }

  private void passed(VisibleCells cells) {
    passed = passedBefore + cells.bytesPassed();
    work = workBefore + cells.work();
    steps++;
    if (steps == 1) {
      beginNanos = core.environment().runtime().nanoTime(); // A read of one row needs no time.
    }
  }

  boolean isFull() {
    return next.isPresent()
        || rows >= request.query().rowLimit()
        || rowStart >= bytesMax
        || isTired();
  }

  private boolean isTired() {
    return passed / PASSED_FACTOR >= bytesMax
        || work >= WORK_MAX
        || (steps > 1 && core.environment().runtime().nanoTime() - beginNanos >= nanosMax);
  }

  /** The page. */
  ReadResult result(long readPoint) {
    // What follows the start belongs to a row for which there was no memory.
    ByteBuffer body = ByteBuffer.wrap(block.finish().array(), 0, rowStart);
    return new ReadResult(body, rows, readPoint, next, position, restarted);
  }

  /**
   * Adds the current row. If there is no memory for it, the page ends before it, so that memory is
   * used for few rows rather than refused to all: also where a filter has let none of them pass.
   *
   * @return whether the whole row was taken; if not, this page is at its end
   */
  boolean addRow(VisibleCells cells) throws IOException {
    try {
      return takeRow(cells);
    } catch (SteleException e) {
      if (rowsPassed == 0 || (e.code() != Code.RETRY_LATER && e.code() != Code.REFUSED)) {
        throw e;
      }
      next = Optional.of(cells.takenRow());
      return false;
    }
  }

  private boolean takeRow(VisibleCells cells) throws IOException {
    cells.beginRow();
    boolean inParts = request.parts().bytesMax() > 0;
    if (request.memoryOnly()) {
      if (!cells.takeFewCells(sink, MEMORY_ONLY_BYTES_MAX, MEMORY_ONLY_WORK_MAX)) {
        throw new NotInMemoryException();
      }
    } else if (inParts) {
      if (!cells.takeCells(sink, partBytes(), workLeft())) {
        return addParts(cells, flow(), false);
      }
    } else if (!cells.takeCells(sink, WHOLE_ROW_BYTES_MAX, Long.MAX_VALUE)) {
      throw SteleException.refused(
          "row \""
              + cells.takenRow()
              + "\" has more than "
              + WHOLE_ROW_BYTES_MAX
              + " bytes: read it in parts, or read fewer columns");
    }
    if (filter.isPresent()) {
      List<Cell> visible = unfiltered.remove();
      if (!visible.isEmpty()) {
        Bytes row = cells.takenRow();
        add(row, visible, filter.get().apply(row, visible));
      }
    }
    endRow();
    return true;
  }

  private Optional<FilterFlow> flow() {
    return request.query().filter().map(one -> FilterFlow.of(one, request.memory()));
  }

  /**
   * Goes on inside a row.
   *
   * @param cells at {@code from}
   * @return whether the whole row was taken; if not, this page is at its end
   */
  boolean resumeRow(VisibleCells cells, RowPosition from) throws IOException {
    Optional<FilterFlow> flow = flow();
    if (!from.filter().isEmpty()) {
      flow.ifPresent(state -> state.restoreState(from.filter()));
    }
    boolean done = cells.takeCells(sink, partBytes(), workLeft());
    return addParts(cells, flow, done);
  }

  /**
   * Adds cells of a row that is returned in parts, of which some were taken.
   *
   * @param end whether these were the last
   * @return whether the whole row was taken; if not, this page is at its end
   */
  private boolean addParts(VisibleCells cells, Optional<FilterFlow> flow, boolean end)
      throws IOException {
    boolean done = end;
    while (true) {
      boolean decided = flow.map(FilterFlow::isDecided).orElse(true);
      if (flow.isPresent()) {
        Bytes row = cells.takenRow();
        List<Cell> visible = unfiltered.remove();
        List<Cell> made = flow.get().apply(row, visible);
        if (decided) {
          add(row, visible, made);
        }
      }
      if (done && decided) {
        endRow();
        return true;
      }
      passed(cells);
      if (done || block.size() - rowStart >= partBytes() || isTired()) {
        if (done) {
          flow.ifPresent(FilterFlow::endPass);
        }
        endRow();
        Bytes row = cells.takenRow();
        Bytes state = flow.map(FilterFlow::saveState).orElse(Bytes.EMPTY);
        RowPosition at =
            done
                ? new RowPosition(row, Bytes.EMPTY, 0, state, moment)
                : cells.position(state, moment);
        next = Optional.of(row);
        position = Optional.of(at.encode());
        return false;
      }
      done = cells.takeCells(sink, partBytes(), workLeft());
    }
  }

  /**
   * Adds what a filter made of {@code visible} cells: it may make many of one. The memory of the
   * visible ones is claimed already.
   */
  private void add(Bytes row, List<Cell> visible, List<Cell> made) {
    long more = bytes(made) - bytes(visible);
    if (more > 0) {
      request.memory().take(MADE_COPIES * more);
    }
    RowCodec.write(row, made, block);
  }

  private static long bytes(List<Cell> cells) {
    long bytes = 0;
    for (Cell cell : cells) {
      bytes += MADE_CELL_BYTES + cell.qualifier().length() + cell.value().length();
      for (String label : cell.labels()) {
        bytes += MADE_CELL_BYTES + label.length(); // In the block it is a cell of its own.
      }
    }
    return bytes;
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

  private void endRow() {
    if (block.size() > rowStart) {
      rows++;
      rowStart = block.size();
    }
  }
}
