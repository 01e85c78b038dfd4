package io.stele.web;

import java.util.List;

/**
 * What a server process shows of itself at one moment.
 *
 * @param title which server this is
 * @param sections tables, in the order shown
 * @param metrics numbers for collectors, each under a name of its own
 */
public record StatusPage(String title, List<Section> sections, List<Metric> metrics) {
  public StatusPage {
    sections = List.copyOf(sections);
    metrics = List.copyOf(metrics);
  }

  /**
   * A table on the page.
   *
   * @param heading what it lists
   * @param columns the head row
   * @param rows as many fields each as there are columns; a field that begins with {@code http://}
   *     is shown as a link
   */
  public record Section(String heading, List<String> columns, List<List<String>> rows) {
    public Section {
      columns = List.copyOf(columns);
      rows = List.copyOf(rows);
    }
  }
}
