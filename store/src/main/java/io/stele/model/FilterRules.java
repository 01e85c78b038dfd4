package io.stele.model;

import com.google.re2j.Pattern;
import com.google.re2j.PatternSyntaxException;
import java.util.List;
import java.util.function.Consumer;

/**
 * Which filters may be evaluated. A filter must not nest too deep, have too many parts, contain
 * regular expressions that are invalid or need much memory, or make many cells of one cell.
 */
final class FilterRules {
  private static final char LAST_OF_ASCII = 0x7f;

  private final Consumer<String> families;
  private int parts;

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
    new FilterRules(families).growth(filter, 1);
  }

  /** Checks a filter; returns how many cells at most it makes of one. */
  private long growth(Filter filter, int depth) {
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
        long product = 1;
        for (Filter one : ((Filter.Chain) filter).filters()) {
          product = bounded(product * growth(one, depth + 1));
        }
        yield product;
      }
      case INTERLEAVE -> {
        List<Filter> branches = ((Filter.Interleave) filter).filters();
        long sum = 0;
        for (Filter one : branches) {
          sum = bounded(sum + growth(one, depth + 1));
        }
        yield sum;
      }
      case CONDITION -> {
        Filter.Condition condition = (Filter.Condition) filter;
        growth(condition.predicate(), depth + 1);
        yield Math.max(
            growth(condition.ifTrue(), depth + 1), growth(condition.ifFalse(), depth + 1));
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
          STRIP_VALUE,
          LABEL ->
          1;
    };
  }

  private static long bounded(long growth) {
    if (growth > Limits.FILTER_GROWTH_MAX) {
      throw SteleException.refused(
          "a filter may make more than "
              + Limits.FILTER_GROWTH_MAX
              + " cells from one, as interleaves within a chain multiply: use fewer branches");
    }
    return growth;
  }

  private long family(String name) {
    families.accept(name);
    return 1;
  }

  private static long regex(String pattern) {
    RegexSize.check(pattern);
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
    return 1;
  }
}
