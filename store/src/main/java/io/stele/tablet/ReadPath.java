package io.stele.tablet;

import io.stele.format.CellCursor;
import io.stele.model.Bytes;
import io.stele.model.Cell;
import io.stele.model.Row;
import io.stele.model.RowQuery;
import io.stele.model.RowRange;
import io.stele.model.SteleException;
import io.stele.model.TimeRange;
import io.stele.sstable.ReadOptions;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * How rows are read, in stages: <em>check</em> the query, <em>pin</em> a read point and the
 * snapshot that can answer for it, <em>merge</em> memtables and SSTables, <em>sieve</em> what is
 * visible, <em>filter</em> row by row, <em>page</em>.
 *
 * <p>Safe for use by any number of threads.
 */
final class ReadPath {
  /** A page that finds little still ends after going through so many times its size. */
  private static final long PASSED_FACTOR = 16;

  private final RowRange extent;
  private final Snapshots snapshots;
  private final DurableOrder order;
  private final Supplier<SchemaRules> rules;
  private final TabletClock clock;
  private final Health health;
  private final Counters counters;
  private final long pageBytesMax;

  ReadPath(
      RowRange extent,
      Snapshots snapshots,
      DurableOrder order,
      Supplier<SchemaRules> rules,
      TabletClock clock,
      Health health,
      Counters counters,
      long pageBytesMax) {
    this.extent = extent;
    this.snapshots = snapshots;
    this.order = order;
    this.rules = rules;
    this.clock = clock;
    this.health = health;
    this.counters = counters;
    this.pageBytesMax = pageBytesMax;
  }

  /** A read point and the snapshot, held, that has all that a read at it sees. */
  private record Pinned(long readPoint, Snapshot snapshot) {}

  /** Reads a page. */
  ReadResult read(ReadRequest request) throws IOException {
    health.check();
    RowQuery query = request.query();
    rules.get().operations().check(query);
    Optional<RowFilter> filter = query.filter().map(RowFilter::of);
    List<RowRange> ranges = clip(query.ranges());
    Pinned pinned = pin(request);
    try {
      long bytesMax = request.bytesMax() > 0 ? request.bytesMax() : pageBytesMax;
      Page page = new Page(query, filter, bytesMax);
      for (RowRange range : ranges) {
        if (page.isFull()) {
          page.next = page.next.or(() -> Optional.of(range.start()));
          break;
        }
        read(range, pinned, request.memoryOnly(), page);
      }
      counters.reads.increment();
      counters.rowsRead.add(page.rows.size());
      return new ReadResult(page.rows, pinned.readPoint(), page.next);
    } finally {
      pinned.snapshot().release();
    }
  }

  /**
   * The visible cells of one row, those included that are queued and not yet durable. The caller
   * holds the row's lock.
   */
  List<Cell> queuedRow(Bytes row, ColumnSelection selection) throws IOException {
    Snapshot snapshot = snapshots.acquire();
    try (VisibleCells cells =
        open(
            new Pinned(Long.MAX_VALUE, snapshot),
            RowRange.single(row),
            selection,
            Integer.MAX_VALUE,
            TimeRange.ALL,
            false)) {
      return cells.seekRow(row) && cells.row().equals(row) ? cells.takeRow() : List.of();
    } finally {
      snapshot.release();
    }
  }

  /**
   * The ranges asked for in order, without overlaps, and without rows that are not the tablet's.
   */
  private List<RowRange> clip(List<RowRange> asked) {
    if (asked.isEmpty()) {
      return List.of(extent);
    }
    List<RowRange> clipped = new ArrayList<>();
    asked.stream()
        .sorted(Comparator.comparing(RowRange::start))
        .filter(range -> !range.isEmpty())
        .flatMap(range -> range.intersection(extent).stream())
        .forEach(
            range -> {
              RowRange last = clipped.isEmpty() ? null : clipped.get(clipped.size() - 1);
              if (last == null
                  || (!last.end().isEmpty() && last.end().compareTo(range.start()) < 0)) {
                clipped.add(range);
              } else if (!last.end().isEmpty()
                  && (range.end().isEmpty() || range.end().compareTo(last.end()) > 0)) {
                clipped.set(clipped.size() - 1, new RowRange(last.start(), range.end()));
              }
            });
    return clipped;
  }

  private Pinned pin(ReadRequest request) {
    while (true) {
      // The read point first: all its cells are then in the snapshot, or in one that came before
      // it and was compacted into it.
      long fresh = order.readPoint();
      Snapshot snapshot = snapshots.acquire();
      long wanted = request.readPoint().orElse(fresh);
      if (wanted > fresh) {
        snapshot.release();
        throw SteleException.refused(
            "read point "
                + wanted
                + " is above the tablet's own, "
                + fresh
                + ": it was taken from another tablet");
      }
      if (wanted >= snapshot.oldestReadable()) {
        return new Pinned(wanted, snapshot);
      }
      if (request.readPoint().isPresent() && !request.allowFresh()) {
        snapshot.release();
        throw SteleException.refused(
            "read point "
                + wanted
                + " cannot be read any more, the oldest is "
                + snapshot.oldestReadable()
                + ": read again from the start");
      }
      if (fresh >= snapshot.oldestReadable()) {
        return new Pinned(fresh, snapshot);
      }
      snapshot.release(); // A compaction came between the two: both again.
    }
  }

  private void read(RowRange range, Pinned pinned, boolean memoryOnly, Page page)
      throws IOException {
    RowQuery query = page.query;
    try (VisibleCells cells =
        open(
            pinned,
            range,
            ColumnSelection.of(query.families(), query.columns()),
            query.versions(),
            query.times(),
            memoryOnly)) {
      long passedBefore = page.passed;
      cells.seekRow(range.start());
      while (cells.hasRow()) {
        Bytes row = cells.row();
        if (!range.isBeforeEnd(row)) {
          return;
        }
        if (page.isFull()) {
          page.next = Optional.of(row);
          return;
        }
        page.add(row, cells.takeRow());
        page.passed = passedBefore + cells.bytesPassed();
      }
    }
  }

  private VisibleCells open(
      Pinned pinned,
      RowRange range,
      ColumnSelection selection,
      int versions,
      TimeRange times,
      boolean memoryOnly)
      throws IOException {
    boolean single = !range.end().isEmpty() && range.equals(RowRange.single(range.start()));
    ReadOptions options =
        memoryOnly ? ReadOptions.MEMORY_ONLY : single ? ReadOptions.POINT : ReadOptions.SCAN;
    Snapshot snapshot = pinned.snapshot();
    List<CellCursor> cursors = new ArrayList<>();
    cursors.add(snapshot.active().cursor(pinned.readPoint()));
    for (Snapshot.Frozen frozen : snapshot.frozen()) {
      cursors.add(frozen.memtable().cursor(pinned.readPoint()));
    }
    for (TabletFile file : snapshot.files()) {
      if (file.meets(range, selection)
          && (!single || file.mayContain(range.start(), selection, options))) {
        cursors.add(file.cursor(range, options));
      }
    }
    return new VisibleCells(
        new MergedCursor(cursors, pinned.readPoint()),
        new CellSieve(rules.get(), clock.now(), CellSieve.Past.WHOLE, true),
        selection,
        versions,
        times);
  }

  /** The page being read. */
  private static final class Page {
    final RowQuery query;
    final Optional<RowFilter> filter;
    final long bytesMax;
    final List<Row> rows = new ArrayList<>();
    long bytes;
    long passed;
    Optional<Bytes> next = Optional.empty();

    Page(RowQuery query, Optional<RowFilter> filter, long bytesMax) {
      this.query = query;
      this.filter = filter;
      this.bytesMax = bytesMax;
    }

    boolean isFull() {
      return rows.size() >= query.rowLimit()
          || bytes >= bytesMax
          || passed / PASSED_FACTOR >= bytesMax;
    }

    void add(Bytes row, List<Cell> visible) {
      List<Cell> cells =
          filter.isPresent() && !visible.isEmpty() ? filter.get().apply(row, visible) : visible;
      if (!cells.isEmpty()) {
        rows.add(new Row(row, cells));
        bytes += row.length();
        for (Cell cell : cells) {
          bytes += cell.family().length() + cell.qualifier().length() + cell.value().length() + 8;
        }
      }
    }
  }
}
