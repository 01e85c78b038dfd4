package io.stele.examples.webtable;

import io.stele.model.Cell;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * A page and how much others refer to it.
 *
 * @param row its row
 * @param inTable whether the page itself is in the table
 * @param referrers how many pages refer to it
 * @param anchors the commonest texts of the links to it, the commonest first
 */
public record TopPage(String row, boolean inTable, int referrers, List<String> anchors) {
  private static final int ANCHORS_MAX = 3;
  private static final String SEPARATOR = "\t";

  public TopPage {
    anchors = List.copyOf(anchors);
  }

  /**
   * The page of a row.
   *
   * @param cells its anchors
   */
  static TopPage of(String row, boolean inTable, List<Cell> cells) {
    Map<String, Integer> counts = new TreeMap<>();
    for (Cell cell : cells) {
      String text = cell.value().toUtf8().replaceAll("\\s+", " ").strip();
      if (!text.isEmpty()) {
        counts.merge(text, 1, Integer::sum);
      }
    }
    List<String> commonest =
        counts.entrySet().stream()
            .sorted(Map.Entry.<String, Integer>comparingByValue().reversed())
            .limit(ANCHORS_MAX)
            .map(Map.Entry::getKey)
            .toList();
    return new TopPage(row, inTable, cells.size(), commonest);
  }

  /** One line, for {@link #parse}. */
  String format() {
    return referrers
        + SEPARATOR
        + (inTable ? "page" : "elsewhere")
        + SEPARATOR
        + row
        + SEPARATOR
        + String.join(SEPARATOR, anchors);
  }

  /** Reads what {@link #format} wrote. */
  static TopPage parse(String line) {
    List<String> parts = List.of(line.split(SEPARATOR, -1));
    List<String> anchors =
        parts.subList(3, parts.size()).stream().filter(text -> !text.isEmpty()).toList();
    return new TopPage(
        parts.get(2), parts.get(1).equals("page"), Integer.parseInt(parts.get(0)), anchors);
  }
}
