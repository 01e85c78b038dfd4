package io.stele.client;

import io.stele.format.RowCodec;
import io.stele.metadata.Attempts.Effect;
import io.stele.metadata.TabletAccess;
import io.stele.metadata.TabletLocation;
import io.stele.model.Bytes;
import io.stele.model.Cell;
import io.stele.model.Row;
import io.stele.model.RowQuery;
import io.stele.model.RowRange;
import io.stele.model.SteleException;
import io.stele.runtime.Deadline;
import io.stele.runtime.Futures;
import io.stele.wire.ByteStrings;
import io.stele.wire.QueryCodec;
import io.stele.wire.data.DataProtos.ReadProto;
import io.stele.wire.data.DataProtos.RequestProto;
import io.stele.wire.data.DataProtos.ResponseProto;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;

/**
 * The state of a read of many rows: which rows are left, and at which read point. Each page is one
 * call to the tablet that has the first row left, and returns the state after it.
 *
 * <p>A large row arrives in parts, all at one read point. If that cannot be read any more as it
 * was, the server starts the row again and the earlier parts are dropped: no row mixes two moments.
 *
 * <p>So servers keep no state for a scan: a tablet that moved, split or lost its server is found
 * again by the first row left. A read point is valid only for the rows of the tablet in which it
 * was taken (and of the tablets into which that is split); beyond them a fresh one is taken.
 * Immutable.
 *
 * @param left the rows not yet read
 * @param limit how many rows may still be returned
 * @param readPoint the read point to continue at; 0: a fresh one
 * @param readPointRows the rows for which the read point is valid
 * @param part the part of the first row left that was read, if the read is inside that row
 */
record Scan(RowRanges left, long limit, long readPoint, RowRange readPointRows, PartOfRow part) {
  /** What one request names: the next asks for the rest. */
  private static final RowRanges.Most ASKED_MAX = new RowRanges.Most(1000, 128 << 10);

  /** The first request asks for little, so that a short read does not wait for a long page. */
  private static final long FIRST_PAGE_BYTES = 128 << 10;

  /**
   * With the end of its last row, a page fits into the first array of a frame (1 MiB); with blocks
   * that it has only parts of, into one read of a file.
   */
  private static final long PAGE_BYTES = 896 << 10;

  /** A row of more bytes comes in parts of about this size, or less where rows may have little. */
  private static final long PART_BYTES = 8 << 20;

  private static final int PARTS_MIN = 4;

  /**
   * Rows that were read, and how to go on.
   *
   * @param rows whole rows
   * @param restarted whether a row that was already read in part was started again
   */
  record Page(List<Row> rows, Scan next, boolean restarted) {}

  /**
   * The beginning of a row.
   *
   * @param position where inside the row to go on; empty: there is no part of a row
   * @param cells what was read of it
   * @param bytes the size of {@code cells}
   * @param bytesMax the size above which a row is not read
   * @param askedBytes the size of the parts asked for
   */
  record PartOfRow(
      Optional<Bytes> position, List<Cell> cells, long bytes, long bytesMax, long askedBytes) {
    PartOfRow none() {
      return new PartOfRow(Optional.empty(), List.of(), 0, bytesMax, askedBytes);
    }

    PartOfRow with(Bytes newPosition, List<Cell> newCells) {
      return new PartOfRow(
          Optional.of(newPosition), List.copyOf(newCells), size(newCells), bytesMax, askedBytes);
    }

    PartOfRow withoutCells() {
      return new PartOfRow(position, List.of(), 0, bytesMax, askedBytes);
    }

    static long size(List<Cell> cells) {
      long size = 0;
      for (Cell cell : cells) {
        size += cell.family().length() + cell.qualifier().length() + cell.value().length();
        for (String label : cell.labels()) {
          size += label.length();
        }
      }
      return size;
    }

    boolean isTooLarge() {
      return bytes > bytesMax;
    }
  }

  /**
   * The beginning of a read.
   *
   * @param rowBytesMax a row with more bytes than this fails the read
   */
  static Scan of(RowQuery query, long rowBytesMax) {
    return of(query, rowBytesMax, rowBytesMax);
  }

  /** The same without a bound on rows, whose parts are as with {@code rowBytesMax}. */
  static Scan unbounded(RowQuery query, long rowBytesMax) {
    return of(query, Long.MAX_VALUE, rowBytesMax);
  }

  private static Scan of(RowQuery query, long rowBytesMax, long partsOf) {
    long partBytes = Math.max(1, Math.min(PART_BYTES, partsOf / PARTS_MIN));
    return new Scan(
        RowRanges.of(query.ranges()),
        query.rowLimit(),
        0,
        RowRange.ALL,
        new PartOfRow(Optional.empty(), List.of(), 0, rowBytesMax, partBytes));
  }

  /** Whether all has been read. */
  boolean isDone() {
    return left.isEmpty() || limit == 0;
  }

  /**
   * Reads on: zero or more rows. Cancelling the future stops further attempts.
   *
   * @return fails with a {@link RowTooLargeException} where the first row left is too large
   */
  CompletableFuture<Page> read(Tablets tablets, TableRef table, RowQuery query, Deadline deadline) {
    if (part.isTooLarge()) {
      return CompletableFuture.failedFuture(
          new RowTooLargeException(table.name(), left.first(), part.bytesMax()));
    }
    TabletAccess.RowRequest request =
        new TabletAccess.RowRequest(
            table.id(),
            left.first(),
            table.purpose(
                Effect.READ,
                () -> "reading table " + table.name() + " from row \"" + left.first() + "\" on"),
            tablet -> TabletAccess.Message.of(request(tablet, table, query)));
    return TabletAccess.converted(
        tablets.send(request, deadline), answer -> page(answer, table, query));
  }

  /** Reads on until there is a row, or no more. */
  CompletableFuture<Page> readRow(
      Tablets tablets, TableRef table, RowQuery query, Deadline deadline) {
    AtomicReference<Scan> next = new AtomicReference<>(this);
    return Futures.repeat(
        () ->
            Objects.requireNonNull(next.get())
                .read(tablets, table, query, deadline)
                .thenApply(
                    page -> {
                      next.set(page.next());
                      return page.rows().isEmpty() && !page.next().isDone()
                          ? Optional.empty()
                          : Optional.of(page);
                    }));
  }

  /** The same without the rows up to {@code row}, this included. */
  Scan after(Bytes row) {
    RowRange rest = new RowRange(RowRange.single(row).end(), Bytes.EMPTY);
    return new Scan(left.within(rest), limit, readPoint, readPointRows, part.none());
  }

  /** The same without the cells of the row it is inside of, which were taken. */
  Scan withoutCells() {
    return new Scan(left, limit, readPoint, readPointRows, part.withoutCells());
  }

  private RequestProto.Builder request(TabletLocation tablet, TableRef table, RowQuery query) {
    RowQuery rest = query.withRanges(asked(tablet).ranges()).limit(limit);
    ReadProto.Builder read =
        ReadProto.newBuilder()
            .setTablet(QueryCodec.encode(tablet.tablet(), tablet.epoch()))
            .setQuery(QueryCodec.encode(rest))
            .setBytesMax(readPoint == 0 ? FIRST_PAGE_BYTES : PAGE_BYTES)
            .setRowPartBytes(part.askedBytes());
    table.pin().ifPresent(read::setPin);
    if (table.once()) {
      read.setOnce(true);
    }
    if (readPointCounts()) {
      read.setReadPoint(readPoint);
      part.position().ifPresent(position -> read.setPosition(ByteStrings.of(position)));
    }
    return RequestProto.newBuilder().setRead(read);
  }

  private Page page(TabletAccess.Answer answer, TableRef table, RowQuery query) {
    TabletLocation tablet = answer.location();
    ResponseProto header = answer.response().header();
    boolean samePoint =
        readPointCounts() && header.getReadPoint() == readPoint && !header.getRestarted();
    List<Row> rows = rows(answer);
    PartOfRow unfinished = part.none();
    if ((samePoint && part.position().isPresent()) || header.hasNextPosition()) {
      rows = new ArrayList<>(rows);
      if (samePoint) {
        join(rows, table);
      }
      unfinished = header.hasNextPosition() ? takeUnfinished(header, rows) : unfinished;
    }
    Bytes next = header.getMore() ? nextRow(header) : asked(tablet).end();
    RowRange pointRows = samePoint ? readPointRows : tablet.extent();
    if (rows.size() > limit) { // The server does not count a row whose rest is empty.
      rows = rows.subList(0, (int) limit);
    }
    if (mayHaveTooLarge(answer, query)) {
      int whole = beforeTooLarge(rows, table);
      if (whole < rows.size()) {
        next = rows.get(whole).key();
        rows = rows.subList(0, whole);
        unfinished = part.none();
      }
    }
    Scan rest =
        new Scan(
            left.from(next), limit - rows.size(), header.getReadPoint(), pointRows, unfinished);
    return new Page(rows, rest, part.position().isPresent() && !samePoint);
  }

  /**
   * Whether a whole row of an answer may be larger than its reader allows. Without a filter only a
   * large cell makes it so, as rows of many cells come in smaller parts; the answer is larger then.
   */
  private boolean mayHaveTooLarge(TabletAccess.Answer answer, RowQuery query) {
    return query.filter().isPresent() || answer.response().body().remaining() > part.bytesMax();
  }

  /**
   * How many rows come before the first that is too large; the next read then begins with that row.
   *
   * @throws RowTooLargeException where there are none
   */
  private int beforeTooLarge(List<Row> rows, TableRef table) {
    for (int i = 0; i < rows.size(); i++) {
      if (PartOfRow.size(rows.get(i).cells()) > part.bytesMax()) {
        if (i == 0) {
          throw new RowTooLargeException(table.name(), rows.get(0).key(), part.bytesMax());
        }
        return i;
      }
    }
    return rows.size();
  }

  /** Puts what there was of the first row left before what came of it now. */
  private void join(List<Row> rows, TableRef table) {
    if (part.cells().isEmpty()) {
      return;
    }
    List<Cell> cells = new ArrayList<>(part.cells());
    if (!rows.isEmpty() && rows.get(0).key().equals(left.first())) {
      cells.addAll(rows.remove(0).cells());
    }
    if (PartOfRow.size(cells) > part.bytesMax()) {
      throw new RowTooLargeException(table.name(), left.first(), part.bytesMax());
    }
    rows.add(0, new Row(left.first(), cells));
  }

  /** Takes the row out that an answer ends inside of, of which it may have nothing. */
  private PartOfRow takeUnfinished(ResponseProto header, List<Row> rows) {
    Bytes row = Bytes.wrap(header.getNextRow().toByteArray());
    int last = rows.size() - 1;
    List<Cell> cells =
        last >= 0 && rows.get(last).key().equals(row) ? rows.remove(last).cells() : List.of();
    return part.with(ByteStrings.bytes(header.getNextPosition()), cells);
  }

  /** The rows in an answer. */
  static List<Row> rows(TabletAccess.Answer answer) {
    try {
      return RowCodec.read(answer.response().body());
    } catch (IOException e) {
      throw new SteleException(
          SteleException.Code.CORRUPTION,
          "the answer of "
              + answer.location().server()
              + " cannot be decoded as rows: "
              + e.getMessage(),
          e);
    }
  }

  private Bytes nextRow(ResponseProto header) {
    Bytes next = Bytes.wrap(header.getNextRow().toByteArray());
    int order = next.compareTo(left.first());
    if (order < 0 || (order == 0 && !header.hasNextPosition())) {
      throw new SteleException(
          SteleException.Code.CORRUPTION,
          "the server would continue at row \"" + next + "\", which is not after the first row");
    }
    return next;
  }

  private boolean readPointCounts() {
    return readPoint != 0 && readPointRows.contains(left.first());
  }

  /** The rows to ask this tablet for: in it, and where the read point counts if it is used. */
  private RowRanges asked(TabletLocation tablet) {
    RowRanges inTablet = left.within(tablet.extent(), ASKED_MAX);
    return readPointCounts() ? inTablet.within(readPointRows, ASKED_MAX) : inTablet;
  }
}
