package io.stele.examples.webtable;

import io.stele.client.TabletInfo;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * The report as text.
 *
 * @param table the table's name
 */
record ReportText(String table, WebtableReport.Result result) {
  @Override
  public String toString() {
    StringBuilder text = new StringBuilder();
    line(text, "Table %s", table);
    line(text, "");
    line(text, "  %,12d pages, %,d bytes", result.pages(), result.pageBytes());
    line(text, "  %,12d links to %,d pages", result.links(), result.referredPages());
    line(text, "  %,12d cells, %,d bytes with their keys", result.cells(), result.bytes());
    line(
        text,
        "  languages: %s",
        result.pagesByLanguage().entrySet().stream()
            .map(language -> String.format("%s %,d", language.getKey(), language.getValue()))
            .collect(Collectors.joining(", ")));
    pages(text, "Most linked-to pages", result.topPages());
    pages(text, "Most linked-to pages that are not in the table", result.topElsewhere());
    line(text, "");
    line(text, "Tablets");
    for (TabletInfo tablet : result.tablets()) {
      line(
          text,
          "  %s %,d bytes in %d SSTables at %s: %s",
          tablet.id(),
          tablet.bytes(),
          tablet.sstables(),
          tablet.server().map(Object::toString).orElse("no server"),
          tablet.rows());
    }
    return text.toString();
  }

  private static void pages(StringBuilder text, String title, List<TopPage> pages) {
    line(text, "");
    line(text, "%s (referring pages, row, link texts)", title);
    int rank = 1;
    for (TopPage page : pages) {
      line(
          text,
          "  %2d. %,6d  %s  \"%s\"",
          rank++,
          page.referrers(),
          page.row(),
          String.join("\", \"", page.anchors()));
    }
  }

  private static void line(StringBuilder text, String format, Object... values) {
    text.append(String.format(Locale.ROOT, format, values)).append('\n');
  }
}
