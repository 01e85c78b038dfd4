package io.stele.tablet;

import io.stele.format.CellCursor;
import io.stele.model.Bytes;
import io.stele.model.Cell;
import io.stele.model.RowQuery;
import io.stele.model.RowRange;
import io.stele.model.SteleException;
import io.stele.model.TimeRange;
import io.stele.runtime.MemoryClaim;
import io.stele.sstable.ReadOptions;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * How rows are read, in stages: <em>check</em> the query, <em>choose</em> a read point and hold a
 * state that can answer for it, <em>merge</em> memtables and SSTables, <em>leave out</em> cells
 * that are not visible, <em>filter</em> row by row, <em>page</em>.
 *
 * <p>Safe for use by any number of threads.
 */
final class ReadPath {
  /**
   * Other threads move the read point within a few instructions, so this limit is never reached.
   */
  private static final int LOOKS_MAX = 1_000_000;

  private final TabletCore core;
  private final RowRange extent;

  ReadPath(TabletCore core) {
    this.core = core;
    this.extent = core.spec().extent();
  }

  /**
   * A read point, and a held state that contains everything a read at that point sees.
   *
   * @param rules whose policies define garbage
   * @param nowMicros the time from which ages are computed of rows that are begun now
   * @param pinPoint the read point again if it is that of a pin; otherwise {@link
   *     TabletFile#UNPINNED}
   * @param moment of rows that are begun now; empty at a pin, where it is always the same
   */
  private record View(
      long readPoint,
      TabletState state,
      SchemaRules rules,
      long nowMicros,
      long pinPoint,
      Optional<RowMoment> moment) {
    /** The same for a row of another moment. */
    View at(RowMoment other) {
      return new View(readPoint, state, rules, other.clockMicros(), pinPoint, Optional.of(other));
    }
  }

  /** What a read wants of a row. */
  private record Wanted(ColumnSelection selection, int versions, TimeRange times) {}

  /** Reads a page. */
  ReadResult read(ReadRequest request) throws IOException {
    core.health().check();
    RowQuery query = request.query();
    List<RowRange> ranges = clip(query.ranges(), extent);
    View view = request.pin().isPresent() ? atPin(request) : atReadPoint(request);
    try {
      view.rules().operations().check(query);
      ReadPage page = new ReadPage(request, resume(request, view), view.moment(), core);
      for (RowRange range : ranges) {
        if (page.isFull()) {
          page.next = page.next.or(() -> Optional.of(range.start()));
          break;
        }
        read(range, view, page);
      }
      return page.result(view.readPoint());
    } finally {
      release(view.state(), request);
    }
  }

  /**
   * Where inside its first row the read goes on; empty: at its beginning. A part that did not match
   * those before it would make the row a mixture, so the row starts again at another read point,
   * after an alteration, and when cells may be gone that its first part would have had.
   */
  private static Optional<RowPosition> resume(ReadRequest request, View view) {
    if (request.readPoint().orElse(-1) != view.readPoint()) {
      return Optional.empty();
    }
    Optional<RowPosition> position = request.parts().position().map(RowPosition::decode);
    return view.moment().isEmpty()
        ? position
        : position.filter(
            inside -> inside.moment().filter(m -> m.goesOn(view.moment().get())).isPresent());
  }

  /**
   * The visible cells of one row, at most so many newest {@code versions} of each column, including
   * cells that are queued and not yet durable. The caller holds the row's lock.
   */
  List<Cell> queuedRow(Bytes row, ColumnSelection selection, int versions, MemoryClaim memory)
      throws IOException {
    TabletCore.NumberedRules rules = core.numberedRules();
    core.current().requireSettled();
    TabletState state = core.current().acquire();
    try (VisibleCells cells =
        open(
            unpinned(Long.MAX_VALUE, state, rules),
            RowRange.single(row),
            new Wanted(selection, versions, TimeRange.ALL),
            ReadOptions.POINT.claiming(memory),
            memory)) {
      return cells.seekRow(row) && cells.row().equals(row) ? cells.takeRow() : List.of();
    } finally {
      state.release();
    }
  }

  /** The requested ranges in order, without overlaps, and without rows outside the tablet. */
  static List<RowRange> clip(List<RowRange> asked, RowRange extent) {
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

  private void release(TabletState state, ReadRequest request) {
    if (request.memoryOnly()) {
      state.releaseWithoutWaiting(core.environment().runtime());
    } else {
      state.release();
    }
  }

  private View unpinned(long readPoint, TabletState state, TabletCore.NumberedRules rules) {
    RowMoment moment = core.moment(rules, state);
    return new View(
        readPoint,
        state,
        rules.rules(),
        moment.clockMicros(),
        TabletFile.UNPINNED,
        Optional.of(moment));
  }

  /** At an existing pin: every state from the pin's creation to its end has everything it needs. */
  private View atPin(ReadRequest request) {
    String pin = request.pin().orElseThrow();
    Pins.Held held = core.pins().require(pin);
    TabletState state = core.current().acquire();
    try {
      core.pins().require(pin); // So it existed while the state was taken.
      long point = held.pin().readPoint();
      return new View(
          point, state, held.rules(), held.pin().clockMicros(), point, Optional.empty());
    } catch (RuntimeException e) {
      release(state, request);
      throw e;
    }
  }

  private View atReadPoint(ReadRequest request) {
    // Take the schema first: a family in it that has the name of a dropped one was added after that
    // one was erased here, and the state then has that.
    TabletCore.NumberedRules rules = core.numberedRules();
    core.current().requireSettled();
    for (int i = 0; i < LOOKS_MAX; i++) {
      // Take the read point first: the state then has all its cells, even if they were compacted.
      long fresh = core.commits().readPoint();
      TabletState state = core.current().acquire();
      long wanted = request.readPoint().orElse(fresh);
      if (wanted > fresh) {
        release(state, request);
        throw SteleException.refused(
            "read point "
                + wanted
                + " is above that of the tablet, "
                + fresh
                + ": it was taken from another tablet");
      }
      if (wanted >= state.oldestReadable()) {
        return unpinned(wanted, state, rules);
      }
      if (request.readPoint().isPresent() && !request.allowFresh()) {
        release(state, request);
        throw SteleException.refused(
            "read point "
                + wanted
                + " cannot be read any more, the oldest is "
                + state.oldestReadable()
                + ": read again from the start");
      }
      if (fresh >= state.oldestReadable()) {
        return unpinned(fresh, state, rules);
      }
      release(state, request); // A compaction ran in between: take both again.
    }
    throw SteleException.retryLater(
        "the read point of tablet " + core.spec().id() + " is behind its files: try again");
  }

  private void read(RowRange range, View view, ReadPage page) throws IOException {
    RowQuery query = page.request.query();
    View ofFirst = page.moment.map(view::at).orElse(view);
    Wanted wanted = new Wanted(page.columns, query.versions(), query.times());
    try (VisibleCells cells =
        open(ofFirst, range, wanted, options(page, range), page::takeForCursors)) {
      page.nextRange();
      if (page.resume.isPresent()) {
        Bytes row = range.start();
        RowPosition position = page.resume.get();
        page.resume = Optional.empty();
        position.check(row);
        cells.resumeRow(row, position);
        if (!page.resumeRow(cells, position)) {
          return;
        }
        page.passedRow(cells);
        page.moment = view.moment();
        cells.agesFrom(view.nowMicros());
      } else {
        cells.seekRow(range.start());
      }
      byte[] end = VisibleCells.end(range);
      while (cells.hasRow() && cells.isBefore(end)) {
        if (page.isFull()) {
          page.next = Optional.of(cells.row());
          return;
        }
        if (!page.addRow(cells)) {
          return;
        }
        page.passedRow(cells);
      }
      page.passedRange(cells);
    }
  }

  private static ReadOptions options(ReadPage page, RowRange range) {
    ReadRequest request = page.request;
    if (request.memoryOnly()) {
      return ReadOptions.MEMORY_ONLY;
    }
    if (range.isSingle()) {
      return ReadOptions.POINT.claiming(request.memory());
    }
    return request.once()
        ? ReadOptions.once(request.memory()).first(page.firstReadBytes())
        : ReadOptions.SCAN.claiming(request.memory());
  }

  /**
   * Opens the cells of {@code range}.
   *
   * @param forCursors asked for the memory of all cursors over files, before there is one
   */
  private VisibleCells open(
      View view, RowRange range, Wanted wanted, ReadOptions options, MemoryClaim forCursors)
      throws IOException {
    boolean single = range.isSingle();
    TabletState state = view.state();
    List<CellCursor> cursors = new ArrayList<>();
    if (view.readPoint() > state.redoPoint()) { // Otherwise all that this read sees is in files.
      cursors.add(state.active().cursor(view.readPoint()));
      for (TabletState.Frozen frozen : state.frozen()) {
        cursors.add(frozen.memtable().cursor(view.readPoint()));
      }
    }
    List<TabletFile> files = new ArrayList<>();
    long cellBytes = 0;
    for (TabletFile file : state.files()) {
      if (file.ref().minSequence() <= view.readPoint()
          && file.ref().isSeenAt(view.readPoint())
          && file.meets(range, wanted.selection(), view.pinPoint())
          && (!single || file.mayContain(range.start(), wanted.selection(), options))) {
        files.add(file);
        cellBytes += file.cellBytes();
      }
    }
    take(files, forCursors);
    for (TabletFile file : files) {
      cursors.add(
          file.cursor(range, file.shareOf(options, cellBytes), view.rules(), view.pinPoint()));
    }
    return new VisibleCells(
        new MergedCursor(cursors, view.readPoint()),
        new VersionFilter(view.rules(), view.nowMicros(), VersionFilter.Past.WHOLE, true),
        wanted.selection(),
        wanted.versions(),
        wanted.times(),
        options.memory());
  }

  /** Takes the memory of cursors over {@code files}; never for good refused: they are merged. */
  private void take(List<TabletFile> files, MemoryClaim forCursors) {
    long bytes = files.stream().mapToLong(TabletFile::cursorBytes).sum();
    try {
      forCursors.take(bytes);
    } catch (SteleException e) {
      throw e.code() != SteleException.Code.REFUSED
          ? e
          : new SteleException(
              SteleException.Code.RETRY_LATER,
              "tablet "
                  + core.spec().id()
                  + " has too many files to be read before compactions have merged some: "
                  + files.size()
                  + " at once take "
                  + bytes
                  + " bytes of memory",
              e);
    }
  }
}
