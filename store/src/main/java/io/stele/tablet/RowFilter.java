package io.stele.tablet;

import com.google.re2j.Pattern;
import com.google.re2j.PatternSyntaxException;
import io.stele.model.Bytes;
import io.stele.model.Cell;
import io.stele.model.Column;
import io.stele.model.Filter;
import io.stele.model.Limits;
import io.stele.model.SteleException;
import io.stele.model.TimeRange;
import io.stele.runtime.MemoryClaim;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Predicate;

/**
 * A {@link Filter} prepared for use: a function from the cells of a row to those that pass.
 *
 * <p>Immutable, safe for use by any number of threads.
 */
@FunctionalInterface
interface RowFilter {
  /** The order of cells in a row; cells that are equal in it keep their order. */
  Comparator<Cell> ORDER =
      Comparator.comparing(Cell::family)
          .thenComparing(Cell::qualifier)
          .thenComparing(Comparator.comparingLong(Cell::timestampMicros).reversed());

  /** The cells of {@code row} that pass, in order; {@code cells} are in order too. */
  List<Cell> apply(Bytes row, List<Cell> cells);

  /**
   * Prepares {@code filter}, which {@link io.stele.model.OperationRules} have accepted.
   *
   * @param claim asked by regular expressions, within values too, whether to go on
   * @throws SteleException REFUSED if it contains an invalid regular expression
   */
  static RowFilter of(Filter filter, MemoryClaim claim) {
    return switch (filter.kind()) {
      case PASS_ALL -> (row, cells) -> cells;
      case BLOCK_ALL -> (row, cells) -> List.of();
      case ROW_KEY_REGEX -> {
        Pattern pattern = compile(((Filter.RowKeyRegex) filter).pattern());
        yield (row, cells) -> matches(pattern, row, claim) ? cells : List.of();
      }
      case ROW_SAMPLE -> {
        double probability = ((Filter.RowSample) filter).probability();
        yield (row, cells) -> position(row) < probability ? cells : List.of();
      }
      case FAMILY_REGEX -> {
        Pattern pattern = compile(((Filter.FamilyRegex) filter).pattern());
        yield cells(cell -> matches(pattern, Bytes.of(cell.family()), claim));
      }
      case QUALIFIER_REGEX -> {
        Pattern pattern = compile(((Filter.QualifierRegex) filter).pattern());
        yield cells(cell -> matches(pattern, cell.qualifier(), claim));
      }
      case COLUMN_RANGE -> {
        Filter.ColumnRange range = (Filter.ColumnRange) filter;
        yield cells(
            cell ->
                cell.family().equals(range.family())
                    && isIn(cell.qualifier(), range.start(), range.end()));
      }
      case COLUMN_IS -> {
        Column column = ((Filter.ColumnIs) filter).column();
        yield cells(cell -> cell.isOf(column));
      }
      case VALUE_REGEX -> {
        Pattern pattern = compile(((Filter.ValueRegex) filter).pattern());
        yield cells(cell -> matches(pattern, cell.value(), claim));
      }
      case VALUE_RANGE -> {
        Filter.ValueRange range = (Filter.ValueRange) filter;
        yield cells(cell -> isIn(cell.value(), range.start(), range.end()));
      }
      case VALUE_IS -> {
        Bytes value = ((Filter.ValueIs) filter).value();
        yield cells(cell -> cell.value().equals(value));
      }
      case TIMESTAMP_RANGE -> {
        TimeRange range = ((Filter.TimestampRange) filter).range();
        yield cells(cell -> range.contains(cell.timestampMicros()));
      }
      case CELLS_PER_ROW_LIMIT -> {
        int count = ((Filter.CellsPerRowLimit) filter).count();
        yield (row, cells) -> cells.subList(0, Math.min(count, cells.size()));
      }
      case CELLS_PER_ROW_OFFSET -> {
        int count = ((Filter.CellsPerRowOffset) filter).count();
        yield (row, cells) -> cells.subList(Math.min(count, cells.size()), cells.size());
      }
      case CELLS_PER_COLUMN_LIMIT -> {
        int count = ((Filter.CellsPerColumnLimit) filter).count();
        yield (row, cells) -> firstOfEachColumn(cells, count);
      }
      case STRIP_VALUE -> (row, cells) -> cells.stream().map(RowFilter::stripped).toList();
      case LABEL -> label(((Filter.Label) filter).label());
      case CHAIN -> chain(all(((Filter.Chain) filter).filters(), claim));
      case INTERLEAVE -> interleave(all(((Filter.Interleave) filter).filters(), claim));
      case CONDITION -> condition((Filter.Condition) filter, claim);
    };
  }

  private static RowFilter label(String label) {
    return (row, cells) -> cells.stream().map(cell -> labelled(cell, label)).toList();
  }

  private static RowFilter condition(Filter.Condition condition, MemoryClaim claim) {
    RowFilter predicate = of(condition.predicate(), claim);
    RowFilter ifTrue = of(condition.ifTrue(), claim);
    RowFilter ifFalse = of(condition.ifFalse(), claim);
    return (row, cells) ->
        (predicate.apply(row, cells).isEmpty() ? ifFalse : ifTrue).apply(row, cells);
  }

  private static List<RowFilter> all(List<Filter> filters, MemoryClaim claim) {
    return filters.stream().map(filter -> of(filter, claim)).toList();
  }

  private static RowFilter chain(List<RowFilter> filters) {
    return (row, cells) -> {
      List<Cell> left = cells;
      for (RowFilter filter : filters) {
        if (left.isEmpty()) {
          break;
        }
        left = filter.apply(row, left);
      }
      return left;
    };
  }

  private static RowFilter interleave(List<RowFilter> filters) {
    return (row, cells) -> {
      List<Cell> all = new ArrayList<>();
      for (RowFilter filter : filters) {
        List<Cell> more = filter.apply(row, cells);
        checkCount(row, all.size() + more.size(), cells.size());
        all.addAll(more);
      }
      all.sort(ORDER);
      return all;
    };
  }

  /** Refuses more cells than a filter may keep in memory for a row. */
  static void checkCount(Bytes row, int count, int of) {
    if (count > Math.max(of, Limits.FILTER_CELLS_MAX)) {
      throw SteleException.refused(
          "the filter makes more than "
              + Limits.FILTER_CELLS_MAX
              + " cells of row \""
              + row
              + "\": interleave less, or limit the cells per row first");
    }
  }

  private static RowFilter cells(Predicate<Cell> wanted) {
    return (row, cells) -> {
      List<Cell> some = new ArrayList<>();
      for (Cell cell : cells) {
        if (wanted.test(cell)) {
          some.add(cell);
        }
      }
      return some;
    };
  }

  private static List<Cell> firstOfEachColumn(List<Cell> cells, int count) {
    List<Cell> some = new ArrayList<>();
    int taken = 0;
    for (int i = 0; i < cells.size(); i++) {
      Cell cell = cells.get(i);
      boolean same =
          i > 0
              && cell.family().equals(cells.get(i - 1).family())
              && cell.qualifier().equals(cells.get(i - 1).qualifier());
      taken = same ? taken + 1 : 1;
      if (taken <= count) {
        some.add(cell);
      }
    }
    return some;
  }

  private static Cell stripped(Cell cell) {
    return new Cell(
        cell.family(), cell.qualifier(), cell.timestampMicros(), Bytes.EMPTY, cell.labels());
  }

  private static Cell labelled(Cell cell, String label) {
    List<String> labels = new ArrayList<>(cell.labels());
    labels.add(label);
    return new Cell(cell.family(), cell.qualifier(), cell.timestampMicros(), cell.value(), labels);
  }

  /** The position of a row in [0, 1): always the same for the same row. */
  private static double position(Bytes row) {
    long hash = 0xcbf29ce484222325L; // FNV-1a, then the finisher of MurmurHash3.
    for (int i = 0; i < row.length(); i++) {
      hash = (hash ^ row.at(i)) * 0x100000001b3L;
    }
    hash = (hash ^ (hash >>> 33)) * 0xff51afd7ed558ccdL;
    hash = (hash ^ (hash >>> 33)) * 0xc4ceb9fe1a85ec53L;
    return ((hash ^ (hash >>> 33)) >>> 11) * 0x1.0p-53;
  }

  private static boolean isIn(Bytes bytes, Bytes start, Bytes end) {
    return bytes.compareTo(start) >= 0 && (end.isEmpty() || bytes.compareTo(end) < 0);
  }

  private static Pattern compile(String pattern) {
    try {
      // Bytes are matched as the characters U+0000 to U+00FF; '.' matches each of them.
      return Pattern.compile(pattern, Pattern.DOTALL);
    } catch (PatternSyntaxException e) {
      throw SteleException.refused(
          "\"" + pattern + "\" is not a regular expression of RE2: " + e.getMessage());
    }
  }

  private static boolean matches(Pattern pattern, Bytes bytes, MemoryClaim claim) {
    return pattern.matcher(new MatchedText(bytes, claim)).matches();
  }
}
