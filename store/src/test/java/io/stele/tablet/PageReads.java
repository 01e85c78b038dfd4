package io.stele.tablet;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.format.RowCodec;
import io.stele.model.Bytes;
import io.stele.model.Row;
import io.stele.model.RowQuery;
import io.stele.model.RowRange;
import java.io.IOException;
import java.util.List;
import java.util.random.RandomGenerator;

/** Reads tablets in pages and parts of rows of random sizes, as clients do. */
final class PageReads {
  private final RandomGenerator random;
  private long pages;

  PageReads(RandomGenerator random) {
    this.random = random;
  }

  /** What a tablet has for a query, asked page by page. */
  List<Row> rows(Tablet tablet, RowQuery query, ReadRequest first) throws IOException {
    RowJoiner joined = new RowJoiner();
    long pageBytes = random.nextInt(3) == 0 ? 1 + random.nextInt(60) : 0;
    long partBytes = random.nextInt(3) == 0 ? 1 + random.nextInt(60) : 0;
    ReadRequest begin = first.pageOf(pageBytes).in(RowParts.ofBytes(partBytes));
    ReadResult page = read(tablet, begin);
    joined.add(page);
    while (page.nextRow().isPresent() && joined.whole() < query.rowLimit()) {
      RowRange rest = new RowRange(page.nextRow().get(), Bytes.EMPTY);
      List<RowRange> ranges =
          query.ranges().isEmpty()
              ? List.of(rest)
              : query.ranges().stream().flatMap(r -> r.intersection(rest).stream()).toList();
      if (ranges.isEmpty()) {
        break;
      }
      RowQuery more = query.withRanges(ranges);
      if (query.rowLimit() != Long.MAX_VALUE) {
        more = more.limit(query.rowLimit() - joined.whole());
      }
      ReadRequest next = ReadRequest.of(more).at(page.readPoint());
      ReadRequest goOn =
          first
              .pin()
              .map(next::atPin)
              .orElse(next)
              .pageOf(pageBytes)
              .in(new RowParts(partBytes, page.position()));
      page = read(tablet, goOn);
      joined.add(page);
    }
    return joined.first(query.rowLimit());
  }

  /** Reads a page, whose encoding from cells must be that of its rows. */
  private ReadResult read(Tablet tablet, ReadRequest request) throws IOException {
    ReadResult page = tablet.read(++pages % 3 == 0 ? request.withoutCaching() : request);
    List<Row> rows = page.rows();
    assertThat(page.rowCount()).isEqualTo(rows.size());
    assertThat(page.block()).isEqualTo(RowCodec.body(rows));
    return page;
  }
}
