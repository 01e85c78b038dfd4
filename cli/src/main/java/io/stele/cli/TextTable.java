package io.stele.cli;

import io.stele.model.Bytes;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** A table of text in aligned columns. Not safe for use by several threads. */
public final class TextTable {
  private final List<String[]> lines = new ArrayList<>();

  /** Columns with these titles. */
  public TextTable(String... titles) {
    lines.add(titles);
  }

  /** Adds a line. */
  public TextTable line(Object... words) {
    String[] line = new String[words.length];
    for (int i = 0; i < words.length; i++) {
      line[i] = String.valueOf(words[i]);
    }
    lines.add(line);
    return this;
  }

  /** The lines, each indented by {@code indent}. */
  public List<String> lines(String indent) {
    int[] widths = new int[lines.get(0).length];
    for (String[] line : lines) {
      for (int i = 0; i < line.length; i++) {
        widths[i] = Math.max(widths[i], line[i].length());
      }
    }
    List<String> text = new ArrayList<>();
    for (String[] line : lines) {
      StringBuilder padded = new StringBuilder(indent);
      for (int i = 0; i < line.length; i++) {
        padded.append(line[i]);
        if (i < line.length - 1) {
          padded.append(" ".repeat(widths[i] - line[i].length() + 2));
        }
      }
      text.add(padded.toString().stripTrailing());
    }
    return text;
  }

  /** A size for people: {@code 1.4 MB}. */
  public static String size(long bytes) {
    if (bytes < 1000) {
      return bytes + " B";
    }
    String[] units = {"kB", "MB", "GB", "TB"};
    double size = bytes;
    int unit = -1;
    while (size >= 999.5 && unit < units.length - 1) {
      size /= 1000;
      unit++;
    }
    return String.format(Locale.ROOT, size < 9.95 ? "%.1f %s" : "%.0f %s", size, units[unit]);
  }

  /** The row that a tablet begins with; the first tablet begins with the empty one. */
  public static String firstRow(Bytes row) {
    return row.isEmpty() ? "(the first)" : row.toString();
  }
}
