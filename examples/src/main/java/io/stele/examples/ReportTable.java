package io.stele.examples;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Rows under a header, in columns as wide as they must be: text to the left, numbers right. */
public final class ReportTable {
  private static final String GAP = "  ";

  private final List<String> header;
  private final List<List<Object>> rows = new ArrayList<>();

  /** A table without rows. */
  public ReportTable(String... header) {
    this.header = List.of(header);
  }

  /**
   * Adds a row.
   *
   * @param cells one for each column; a column has only text, or only whole numbers
   */
  public ReportTable row(Object... cells) {
    rows.add(List.of(cells));
    return this;
  }

  private static String text(Object cell) {
    return cell instanceof Number number
        ? String.format(Locale.ROOT, "%,d", number.longValue())
        : cell.toString();
  }

  @Override
  public String toString() {
    StringBuilder lines = new StringBuilder();
    line(lines, header);
    rows.forEach(row -> line(lines, row));
    return lines.toString();
  }

  private void line(StringBuilder lines, List<?> cells) {
    StringBuilder line = new StringBuilder();
    for (int i = 0; i < cells.size(); i++) {
      String text = text(cells.get(i));
      String space = " ".repeat(width(i) - text.length());
      boolean right = !rows.isEmpty() && rows.get(0).get(i) instanceof Number;
      line.append(GAP).append(right ? space + text : text + space);
    }
    lines.append(line.toString().stripTrailing()).append('\n');
  }

  private int width(int column) {
    return rows.stream()
        .mapToInt(row -> text(row.get(column)).length())
        .reduce(header.get(column).length(), Math::max);
  }
}
