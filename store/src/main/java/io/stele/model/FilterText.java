package io.stele.model;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Filters as text, for configurations and command lines:
 *
 * <pre>
 * filter   := name [ "(" [ argument { "," argument } ] ")" ]
 * argument := filter | string | number | time
 * string   := "'" without ' "'" | '"' without " '"'
 * time     := an instant of ISO 8601 | microseconds since 1970
 * </pre>
 *
 * The name is that of the {@link Filter.Kind}, in lower case, and the arguments are those of the
 * filter, such as
 *
 * <pre>
 * chain(column_is('anchor:com.example'), cells_per_column_limit(1))
 * condition(value_regex('.*\.gif'), block_all, row_sample(0.1))
 * timestamp_range(2026-01-31T12:00:00Z, 2026-02-01T00:00:00Z)
 * </pre>
 *
 * A regular expression is taken literally from between the quotes; in other strings {@code \xNN} is
 * a byte and {@code \\} a backslash. A column is {@code family:qualifier}; an empty end of a range
 * means no end. A time is read as {@link Timestamps#parse} reads it, which refuses what is likely
 * to be milliseconds; a range of times may also begin at 0, and without a second time it has no
 * end. For one thread.
 */
public final class FilterText {
  private final String text;
  private int at;

  private FilterText(String text) {
    this.text = text;
  }

  /**
   * Parses {@code text}.
   *
   * @throws SteleException REFUSED, with the position, if the text is not a filter, or is a filter
   *     that must not be evaluated
   */
  public static Filter parse(String text) {
    FilterText parser = new FilterText(text);
    Filter filter = parser.filter(1);
    if (parser.peek() != 0) {
      throw parser.refused("nothing can follow a filter");
    }
    FilterRules.check(filter, family -> {});
    return filter;
  }

  private Filter filter(int depth) {
    Limits.checkFilterDepth(depth);
    Filter.Kind kind = kind();
    boolean arguments = peek() == '(';
    if (arguments) {
      at++;
    }
    Filter filter =
        switch (kind) {
          case PASS_ALL -> new Filter.PassAll();
          case BLOCK_ALL -> new Filter.BlockAll();
          case ROW_KEY_REGEX -> new Filter.RowKeyRegex(string());
          case ROW_SAMPLE -> new Filter.RowSample(number());
          case FAMILY_REGEX -> new Filter.FamilyRegex(string());
          case QUALIFIER_REGEX -> new Filter.QualifierRegex(string());
          case COLUMN_RANGE -> new Filter.ColumnRange(string(), next().bytes(), next().bytes());
          case COLUMN_IS -> new Filter.ColumnIs(column());
          case VALUE_REGEX -> new Filter.ValueRegex(string());
          case VALUE_RANGE -> new Filter.ValueRange(bytes(), next().bytes());
          case VALUE_IS -> new Filter.ValueIs(bytes());
          case TIMESTAMP_RANGE -> new Filter.TimestampRange(times());
          case CELLS_PER_ROW_LIMIT -> new Filter.CellsPerRowLimit(count());
          case CELLS_PER_ROW_OFFSET -> new Filter.CellsPerRowOffset(count());
          case CELLS_PER_COLUMN_LIMIT -> new Filter.CellsPerColumnLimit(count());
          case STRIP_VALUE -> new Filter.StripValue();
          case LABEL -> new Filter.Label(string());
          case CHAIN -> new Filter.Chain(filters(depth));
          case INTERLEAVE -> new Filter.Interleave(filters(depth));
          case CONDITION ->
              new Filter.Condition(
                  filter(depth + 1), next().filter(depth + 1), next().filter(depth + 1));
        };
    if (arguments) {
      expect(')');
    }
    return filter;
  }

  private Filter.Kind kind() {
    peek();
    int start = at;
    while (at < text.length() && (Character.isLetter(text.charAt(at)) || text.charAt(at) == '_')) {
      at++;
    }
    String name = text.substring(start, at);
    for (Filter.Kind kind : Filter.Kind.values()) {
      if (kind.name().toLowerCase(Locale.ROOT).equals(name)) {
        return kind;
      }
    }
    at = start;
    throw refused(
        "a filter is needed, one of "
            + String.join(
                ", ",
                List.of(Filter.Kind.values()).stream()
                    .map(kind -> kind.name().toLowerCase(Locale.ROOT))
                    .toList()));
  }

  private List<Filter> filters(int depth) {
    List<Filter> filters = new ArrayList<>();
    if (peek() != ')') {
      filters.add(filter(depth + 1));
      while (peek() == ',') {
        filters.add(next().filter(depth + 1));
      }
    }
    return filters;
  }

  /** Skips the comma before another argument. */
  private FilterText next() {
    expect(',');
    return this;
  }

  private String string() {
    char quote = peek();
    int end = quote == '\'' || quote == '"' ? text.indexOf(quote, at + 1) : -1;
    if (end < 0) {
      throw refused("a string is needed, between ' and ' or \" and \"");
    }
    String string = text.substring(at + 1, end);
    at = end + 1;
    return string;
  }

  private Bytes bytes() {
    int start = at;
    String string = string();
    try {
      return Bytes.parse(string);
    } catch (SteleException e) {
      at = start;
      throw refused(e.getMessage());
    }
  }

  private Column column() {
    int start = at;
    String column = string();
    if (column.indexOf(':') >= 0) {
      try {
        return Column.parse(column);
      } catch (SteleException e) {
        at = start;
        throw refused(e.getMessage());
      }
    }
    at = start;
    throw refused("a column is needed, as 'family:qualifier'");
  }

  private TimeRange times() {
    int start = at;
    long from = time();
    long to = peek() == ')' ? TimeRange.ALL.toMicros() : next().time();
    try {
      return new TimeRange(from, to);
    } catch (SteleException e) {
      at = start;
      throw refused(e.getMessage());
    }
  }

  private long time() {
    peek();
    int start = at;
    String time = word();
    try {
      return time.equals("0") ? TimeRange.ALL.fromMicros() : Timestamps.parse(time);
    } catch (SteleException e) {
      at = start;
      throw refused(e.getMessage());
    }
  }

  private int count() {
    long count = whole();
    if (count > Integer.MAX_VALUE) {
      throw refused("a count of cells is needed, not " + count);
    }
    return (int) count;
  }

  private long whole() {
    String digits = word();
    try {
      return Long.parseLong(digits);
    } catch (NumberFormatException e) {
      throw refused("a whole number is needed, not \"" + digits + "\"");
    }
  }

  private double number() {
    String digits = word();
    try {
      return Double.parseDouble(digits);
    } catch (NumberFormatException e) {
      throw refused("a number is needed, not \"" + digits + "\"");
    }
  }

  private String word() {
    peek();
    int start = at;
    while (at < text.length() && ",) ".indexOf(text.charAt(at)) < 0) {
      at++;
    }
    return text.substring(start, at);
  }

  private void expect(char what) {
    if (peek() != what) {
      throw refused("\"" + what + "\" is needed");
    }
    at++;
  }

  /** The next character that is no space; 0 at the end. */
  private char peek() {
    while (at < text.length() && Character.isWhitespace(text.charAt(at))) {
      at++;
    }
    return at < text.length() ? text.charAt(at) : 0;
  }

  private SteleException refused(String why) {
    return SteleException.refused("filter \"" + text + "\", at character " + (at + 1) + ": " + why);
  }
}
