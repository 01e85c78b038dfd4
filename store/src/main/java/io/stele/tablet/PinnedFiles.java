package io.stele.tablet;

import io.stele.format.CellCursor;
import io.stele.model.Bytes;
import io.stele.model.Cell;
import io.stele.model.Row;
import io.stele.model.RowQuery;
import io.stele.model.RowRange;
import io.stele.model.SteleException;
import io.stele.record.FileRef;
import io.stele.record.Pin;
import io.stele.record.PinnedTablet;
import io.stele.runtime.MemoryClaim;
import io.stele.sstable.FileCaching;
import io.stele.sstable.OpenSSTables;
import io.stele.sstable.ReadOptions;
import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.fs.Path;

/**
 * Reads a tablet's files at a pin with the server's code, but without the tablet: the tablet's
 * record is enough. Everything up to the pin is in files, and no file has operations from both
 * sides of it. So only the files below the pin need to be read.
 *
 * <p>Files are read in one pass with a large readahead, and nothing is cached. Not safe for use by
 * several threads.
 */
public final class PinnedFiles implements Closeable {
  // Of a file: what fits into a processor's cache.
  private static final int READAHEAD_BYTES_MAX = 256 << 10;
  private static final int READAHEAD_BYTES_MIN = 128 << 10;

  /** After this many rows without visible cells, the caller is told. */
  private static final int UNSEEN_ROWS = 4096;

  private final Pin pin;
  private final RowQuery query;
  private final long rowBytesMax;
  private final int readaheadBytes;
  private final SchemaRules rules;
  private final ColumnSelection selection;
  private final Optional<RowFilter> filter;
  private final List<RowRange> ranges;
  private final Iterator<RowRange> left;
  private final List<TabletFile> files = new ArrayList<>();
  private final ModelCells taken = new ModelCells();
  private Optional<VisibleCells> cells = Optional.empty();
  private byte[] end = {}; // Of the range of these cells.
  private long unseen;

  private PinnedFiles(PinnedTablet tablet, RowQuery query, long rowBytesMax, int readaheadBytes) {
    this.readaheadBytes = readaheadBytes;
    this.pin = tablet.pin();
    this.query = query;
    this.rowBytesMax = rowBytesMax;
    this.rules = new SchemaRules(pin.schema(), pin.former());
    this.selection = ColumnSelection.of(query.families(), query.columns());
    this.filter = query.filter().map(one -> RowFilter.of(one, MemoryClaim.NONE));
    this.ranges = ReadPath.clip(query.ranges(), tablet.rows());
    this.left = ranges.iterator();
  }

  /**
   * Opens the required files of a tablet.
   *
   * @param sstables opens them
   * @param root the directory that the paths of files are relative to
   * @param query what to read of the tablet's rows; its row limit is ignored
   * @param rowBytesMax rows with more bytes are refused
   * @param readaheadBytes how far to read ahead, in all files together
   * @throws SteleException NOT_FOUND if the pin's schema lacks a family
   */
  public static PinnedFiles open(
      OpenSSTables sstables,
      Path root,
      PinnedTablet tablet,
      RowQuery query,
      long rowBytesMax,
      int readaheadBytes)
      throws IOException {
    PinnedFiles opened = new PinnedFiles(tablet, query, rowBytesMax, readaheadBytes);
    opened.rules.operations().check(query);
    try {
      for (FileRef file : tablet.files()) {
        if (opened.wants(file)) {
          opened.files.add(TabletFile.open(sstables, root, file, FileCaching.NORMAL));
        }
      }
    } catch (IOException | RuntimeException e) {
      opened.close();
      throw e;
    }
    opened.files.sort(TabletFile.NEWEST_FIRST);
    return opened;
  }

  private boolean wants(FileRef file) {
    return selection.wantsAnyOf(file.familiesAt(pin.readPoint()))
        && ranges.stream().anyMatch(some -> file.bounds().intersection(some).isPresent());
  }

  /**
   * The next row with visible cells; empty at the end.
   *
   * @param alive called from time to time while no row is found
   */
  public Optional<Row> next(Runnable alive) throws IOException {
    while (cells.isPresent() || left.hasNext()) {
      if (cells.isEmpty()) {
        RowRange range = left.next();
        end = VisibleCells.end(range);
        VisibleCells begun = open(range);
        cells = Optional.of(begun);
        begun.seekRow(range.start());
      }
      VisibleCells here = cells.get();
      while (here.hasRow() && here.isBefore(end)) {
        Optional<Row> row = take(here);
        if (row.isPresent()) {
          return row;
        }
        if (++unseen % UNSEEN_ROWS == 0) {
          alive.run();
        }
      }
      endRange();
    }
    return Optional.empty();
  }

  /** The current row, if some of its cells are visible. */
  private Optional<Row> take(VisibleCells here) throws IOException {
    here.beginRow();
    if (!here.takeCells(taken, rowBytesMax, Long.MAX_VALUE)) {
      taken.remove();
      throw SteleException.refused(
          "row \""
              + here.takenRow()
              + "\" has more than "
              + rowBytesMax
              + " bytes: read fewer columns");
    }
    List<Cell> visible = taken.remove();
    if (visible.isEmpty()) {
      return Optional.empty();
    }
    Bytes row = here.takenRow();
    if (filter.isPresent()) {
      visible = filter.get().apply(row, visible);
    }
    return visible.isEmpty() ? Optional.empty() : Optional.of(new Row(row, visible));
  }

  private VisibleCells open(RowRange rows) throws IOException {
    ReadOptions options = options();
    List<CellCursor> cursors = new ArrayList<>();
    for (TabletFile file : files) {
      if (file.meets(rows, selection, pin.readPoint())
          && (!rows.isSingle() || file.mayContain(rows.start(), selection, options))) {
        cursors.add(file.cursor(rows, options, rules, pin.readPoint()));
      }
    }
    return new VisibleCells(
        new MergedCursor(cursors, pin.readPoint()),
        new VersionFilter(rules, pin.clockMicros(), VersionFilter.Past.WHOLE, true),
        selection,
        query.versions(),
        query.times(),
        MemoryClaim.NONE);
  }

  private ReadOptions options() {
    int least = Math.min(READAHEAD_BYTES_MIN, readaheadBytes);
    int each = Math.max(least, readaheadBytes / Math.max(1, files.size()));
    return new ReadOptions(false, Math.min(READAHEAD_BYTES_MAX, each), false);
  }

  private void endRange() throws IOException {
    Optional<VisibleCells> done = cells;
    cells = Optional.empty();
    if (done.isPresent()) {
      done.get().close();
    }
  }

  @Override
  public void close() throws IOException {
    try {
      endRange();
    } finally {
      files.forEach(TabletFile::release);
    }
  }
}
