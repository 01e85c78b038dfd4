package io.stele.client;

import io.stele.metadata.Attempts.Effect;
import io.stele.metadata.TabletAccess;
import io.stele.metadata.TabletLocation;
import io.stele.model.Bytes;
import io.stele.model.Row;
import io.stele.model.RowQuery;
import io.stele.model.RowRange;
import io.stele.model.SteleException;
import io.stele.wire.QueryCodec;
import io.stele.wire.RowCodec;
import io.stele.wire.data.DataProtos.ReadProto;
import io.stele.wire.data.DataProtos.RequestProto;
import io.stele.wire.data.DataProtos.ResponseProto;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * Where a read of many rows is: which rows are left, and at which read point. Each page is one call
 * to the tablet that holds the first row left, and gives the state after it.
 *
 * <p>So nothing needs to be kept at a server: a tablet that moved, split or lost its server is
 * found again by the first row left. A read point counts only for the rows of the tablet it was
 * taken in (and of what that tablet is split into); beyond them a fresh one is taken. Immutable.
 *
 * @param left the rows not yet read
 * @param limit how many rows may still be returned
 * @param readPoint the read point to go on at; 0: a fresh one
 * @param readPointRows the rows that the read point counts for
 */
record Scan(RowRanges left, long limit, long readPoint, RowRange readPointRows) {
  /** How many ranges one request names: more are asked for by the next. */
  private static final int RANGES_MAX = 1000;

  /** The first request asks for little, so that a short read does not wait for a long page. */
  private static final long FIRST_PAGE_BYTES = 128 << 10;

  private static final long PAGE_BYTES = 1 << 20;

  /** Rows that were read, and how to go on. */
  record Page(List<Row> rows, Scan next) {}

  /** The beginning of a read. */
  static Scan of(RowQuery query) {
    return new Scan(RowRanges.of(query.ranges()), query.rowLimit(), 0, RowRange.ALL);
  }

  /** Whether all has been read. */
  boolean isDone() {
    return left.isEmpty() || limit == 0;
  }

  /** Reads on: zero or more rows. */
  CompletableFuture<Page> read(Tablets tablets, TableRef table, RowQuery query) {
    TabletAccess.RowRequest request =
        new TabletAccess.RowRequest(
            table.id(),
            left.first(),
            table.purpose(
                Effect.READ,
                () -> "reading table " + table.name() + " from row \"" + left.first() + "\" on"),
            tablet -> TabletAccess.Message.of(request(tablet, query)));
    return tablets.send(request, table.deadline()).thenApply(this::page);
  }

  private RequestProto.Builder request(TabletLocation tablet, RowQuery query) {
    RowQuery part = query.withRanges(asked(tablet).ranges()).limit(limit);
    ReadProto.Builder read =
        ReadProto.newBuilder()
            .setTablet(QueryCodec.encode(tablet.tablet(), tablet.epoch()))
            .setQuery(QueryCodec.encode(part))
            .setBytesMax(readPoint == 0 ? FIRST_PAGE_BYTES : PAGE_BYTES);
    if (readPointCounts()) {
      read.setReadPoint(readPoint);
    }
    return RequestProto.newBuilder().setRead(read);
  }

  private Page page(TabletAccess.Answer answer) {
    TabletLocation tablet = answer.location();
    ResponseProto header = answer.response().header();
    List<Row> rows = rows(answer);
    Bytes next = header.getMore() ? nextRow(header) : asked(tablet).end();
    boolean samePoint = readPointCounts() && header.getReadPoint() == readPoint;
    RowRange pointRows = samePoint ? readPointRows : tablet.extent();
    return new Page(
        rows, new Scan(left.from(next), limit - rows.size(), header.getReadPoint(), pointRows));
  }

  /** The rows in an answer. */
  static List<Row> rows(TabletAccess.Answer answer) {
    try {
      return RowCodec.read(answer.response().body());
    } catch (IOException e) {
      throw new SteleException(
          SteleException.Code.CORRUPTION,
          "the answer of " + answer.location().server() + " is not rows: " + e.getMessage(),
          e);
    }
  }

  private Bytes nextRow(ResponseProto header) {
    Bytes next = Bytes.wrap(header.getNextRow().toByteArray());
    if (next.compareTo(left.first()) <= 0) {
      throw new SteleException(
          SteleException.Code.CORRUPTION,
          "the server would go on at row \"" + next + "\", which is not after the first");
    }
    return next;
  }

  private boolean readPointCounts() {
    return readPoint != 0 && readPointRows.contains(left.first());
  }

  /** The rows to ask this tablet for: in it, and where the read point counts if it is used. */
  private RowRanges asked(TabletLocation tablet) {
    RowRanges inTablet = left.within(tablet.extent(), RANGES_MAX);
    return readPointCounts() ? inTablet.within(readPointRows, RANGES_MAX) : inTablet;
  }
}
