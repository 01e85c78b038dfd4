package io.stele.web;

import java.util.List;
import java.util.Map;

/**
 * What a server process shows of itself at one moment.
 *
 * @param title which server this is
 * @param sections tables, in the order shown
 * @param metrics numbers by name, such as {@code stele_tabletserver_memtable_bytes}
 */
public record StatusPage(String title, List<Section> sections, Map<String, Number> metrics) {
  public StatusPage {
    sections = List.copyOf(sections);
    metrics = Map.copyOf(metrics);
  }

  /**
   * A table on the page.
   *
   * @param heading what it lists
   * @param columns the head row
   * @param rows as many fields each as there are columns
   */
  public record Section(String heading, List<String> columns, List<List<String>> rows) {
    public Section {
      columns = List.copyOf(columns);
      rows = List.copyOf(rows);
    }
  }
}
