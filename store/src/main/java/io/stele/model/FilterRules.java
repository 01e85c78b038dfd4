package io.stele.model;

import com.google.re2j.Pattern;
import com.google.re2j.PatternSyntaxException;
import java.util.function.Consumer;

/**
 * Which filters may be evaluated. A filter must not nest too deep, have too many parts, contain
 * regular expressions that are invalid or need much memory, alone or together, or make many cells
 * of one cell, or long ones.
 */
final class FilterRules {
  private static final char LAST_OF_ASCII = 0x7f;

  private final Consumer<String> families;
  private int parts;
  private long regexSize; // Of all regular expressions so far.

  /**
   * What a filter makes of one cell at most.
   *
   * @param cells how many cells
   * @param labels how many labels on each, beside those that it had
   */
  private record Made(long cells, int labels) {
    static final Made ONE = new Made(1, 0);

    Made max(Made other) {
      return new Made(Math.max(cells, other.cells), Math.max(labels, other.labels));
    }
  }

  private FilterRules(Consumer<String> families) {
    this.families = families;
  }

  /**
   * Refuses a filter.
   *
   * @param families refuses a family that the table does not have
   * @throws SteleException REFUSED, or what {@code families} throws
   */
  static void check(Filter filter, Consumer<String> families) {
    new FilterRules(families).made(filter, 1);
  }

  /** Checks a filter. */
  private Made made(Filter filter, int depth) {
    Limits.checkFilterDepth(depth);
    parts++;
    if (parts > Limits.FILTER_PARTS_MAX) {
      throw SteleException.refused(
          "a filter has more than "
              + Limits.FILTER_PARTS_MAX
              + " parts: use fewer, or one regular expression for many");
    }
    return switch (filter.kind()) {
      case COLUMN_RANGE -> family(((Filter.ColumnRange) filter).family());
      case COLUMN_IS -> family(((Filter.ColumnIs) filter).column().family());
      case ROW_KEY_REGEX -> regex(((Filter.RowKeyRegex) filter).pattern());
      case FAMILY_REGEX -> regex(((Filter.FamilyRegex) filter).pattern());
      case QUALIFIER_REGEX -> regex(((Filter.QualifierRegex) filter).pattern());
      case VALUE_REGEX -> regex(((Filter.ValueRegex) filter).pattern());
      case CHAIN -> {
        Made all = Made.ONE;
        for (Filter one : ((Filter.Chain) filter).filters()) {
          Made more = made(one, depth + 1);
          all = bounded(new Made(all.cells * more.cells, all.labels + more.labels));
        }
        yield all;
      }
      case INTERLEAVE -> {
        Made all = new Made(0, 0);
        for (Filter one : ((Filter.Interleave) filter).filters()) {
          Made more = made(one, depth + 1);
          all = bounded(new Made(all.cells + more.cells, Math.max(all.labels, more.labels)));
        }
        yield all;
      }
      case CONDITION -> {
        Filter.Condition condition = (Filter.Condition) filter;
        made(condition.predicate(), depth + 1);
        yield made(condition.ifTrue(), depth + 1).max(made(condition.ifFalse(), depth + 1));
      }
      case PASS_ALL,
          BLOCK_ALL,
          ROW_SAMPLE,
          VALUE_RANGE,
          VALUE_IS,
          TIMESTAMP_RANGE,
          CELLS_PER_ROW_LIMIT,
          CELLS_PER_ROW_OFFSET,
          CELLS_PER_COLUMN_LIMIT,
          STRIP_VALUE ->
          Made.ONE;
      case LABEL -> label(((Filter.Label) filter).label());
    };
  }

  private static Made label(String label) {
    if (label.length() > Limits.LABEL_LENGTH_MAX) {
      throw SteleException.refused(
          "the label that starts \""
              + label.substring(0, Limits.LABEL_LENGTH_MAX)
              + "\" has "
              + label.length()
              + " characters: the limit is "
              + Limits.LABEL_LENGTH_MAX);
    }
    return new Made(1, 1);
  }

  private static Made bounded(Made made) {
    if (made.labels > Limits.CELL_LABELS_MAX) {
      throw SteleException.refused(
          "a filter may add more than "
              + Limits.CELL_LABELS_MAX
              + " labels to one cell: use fewer in a chain");
    }
    if (made.cells > Limits.FILTER_GROWTH_MAX) {
      throw SteleException.refused(
          "a filter may make more than "
              + Limits.FILTER_GROWTH_MAX
              + " cells from one, as interleaves within a chain multiply: use fewer branches");
    }
    return made;
  }

  private Made family(String name) {
    families.accept(name);
    return Made.ONE;
  }

  private Made regex(String pattern) {
    regexSize += RegexSize.check(pattern);
    if (regexSize > Limits.FILTER_REGEX_SIZE_MAX) {
      throw SteleException.refused(
          "the regular expressions of a filter have more than "
              + Limits.FILTER_REGEX_SIZE_MAX
              + " steps together, with repetitions written out: repeat less, or use fewer");
    }
    if (pattern.chars().anyMatch(one -> one > LAST_OF_ASCII)) {
      throw SteleException.refused(
          "\""
              + pattern
              + "\" has characters that are not ASCII, but patterns are matched against bytes: write"
              + " these characters as bytes, such as \\xc3\\xa9");
    }
    try {
      Pattern.compile(pattern, Pattern.DOTALL);
    } catch (PatternSyntaxException e) {
      throw SteleException.refused(
          "\"" + pattern + "\" is not a regular expression of RE2: " + e.getMessage());
    }
    return Made.ONE;
  }
}
