package io.stele.cli.demo;

import io.stele.client.Rows;
import io.stele.client.Stele;
import io.stele.examples.webtable.Webtable;
import io.stele.examples.webtable.WebtableLoad;
import io.stele.model.Row;
import io.stele.model.RowQuery;
import java.io.IOException;
import java.util.Optional;

/**
 * A row that is good to look at: a page of the table, with a short key. The most linked-to pages
 * have hundreds of anchors.
 */
final class FewAnchors {
  private static final int LEAST = 2;
  private static final int MOST = 5;
  private static final int ROWS_MAX = 1000; // They are read in a moment.

  private FewAnchors() {}

  /**
   * The page with the shortest key of those that a few link to, among the first that were loaded.
   */
  static Optional<String> row(Stele stele) throws IOException {
    RowQuery query =
        RowQuery.prefix(WebtableLoad.SITE)
            .family(Webtable.LANGUAGE)
            .family(Webtable.ANCHOR)
            .limit(ROWS_MAX);
    Optional<String> shortest = Optional.empty();
    try (Rows rows = stele.table(Webtable.TABLE).readRows(query)) {
      for (Row row : rows) {
        int anchors = row.family(Webtable.ANCHOR).size();
        boolean loaded = !row.family(Webtable.LANGUAGE).isEmpty();
        String key = row.key().toString();
        boolean shorter = shortest.isEmpty() || key.length() < shortest.get().length();
        if (loaded && anchors >= LEAST && anchors <= MOST && shorter) {
          shortest = Optional.of(key);
        }
      }
    }
    return shortest;
  }
}
