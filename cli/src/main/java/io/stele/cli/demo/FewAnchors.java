package io.stele.cli.demo;

import io.stele.client.Rows;
import io.stele.client.Stele;
import io.stele.examples.webtable.Webtable;
import io.stele.model.Row;
import io.stele.model.RowQuery;
import java.io.IOException;
import java.util.Optional;

/** A row that is good to look at: the pages most referred to have hundreds of anchors. */
final class FewAnchors {
  private static final int LEAST = 2;
  private static final int MOST = 5;
  private static final int ROWS_MAX = 1000; // They are read in a moment.

  private FewAnchors() {}

  /** The first row that a few pages refer to, if there is one among the first rows. */
  static Optional<String> row(Stele stele) throws IOException {
    RowQuery query = RowQuery.ALL.family(Webtable.ANCHOR).limit(ROWS_MAX);
    try (Rows rows = stele.table(Webtable.TABLE).readRows(query)) {
      for (Row row : rows) {
        int anchors = row.cells().size();
        if (anchors >= LEAST && anchors <= MOST) {
          return Optional.of(row.key().toString());
        }
      }
    }
    return Optional.empty();
  }
}
