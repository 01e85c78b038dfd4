package io.stele.tablet;

import io.stele.model.Bytes;
import io.stele.model.Cell;
import io.stele.model.Column;
import io.stele.model.Filter;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.regex.Pattern;

/**
 * What filters mean, said from {@link Filter}'s documentation over lists of cells, as slowly as
 * need be and without any code of the product's own evaluation.
 */
final class PlainFilters {
  /** Order of cells in a row. */
  static final Comparator<Cell> ORDER =
      (a, b) -> {
        if (!a.family().equals(b.family())) {
          return a.family().compareTo(b.family());
        }
        if (!a.qualifier().equals(b.qualifier())) {
          return a.qualifier().compareTo(b.qualifier());
        }
        return Long.compare(b.timestampMicros(), a.timestampMicros());
      };

  private static final BigInteger MASK = BigInteger.ONE.shiftLeft(64).subtract(BigInteger.ONE);

  private PlainFilters() {}

  /** The cells of {@code row} that {@code filter} lets through, in order. */
  static List<Cell> apply(Filter filter, Bytes row, List<Cell> cells) {
    List<Cell> passed = new ArrayList<>();
    switch (filter.kind()) {
      case CHAIN -> {
        List<Cell> left = cells;
        for (Filter one : ((Filter.Chain) filter).filters()) {
          left = apply(one, row, left);
        }
        return left;
      }
      case INTERLEAVE -> {
        for (Filter one : ((Filter.Interleave) filter).filters()) {
          apply(one, row, cells).forEach(cell -> insert(passed, cell));
        }
      }
      case CONDITION -> {
        Filter.Condition condition = (Filter.Condition) filter;
        boolean holds = !apply(condition.predicate(), row, cells).isEmpty();
        return apply(holds ? condition.ifTrue() : condition.ifFalse(), row, cells);
      }
      case STRIP_VALUE -> cells.forEach(cell -> passed.add(changed(cell, Bytes.EMPTY, List.of())));
      case LABEL -> {
        List<String> label = List.of(((Filter.Label) filter).label());
        cells.forEach(cell -> passed.add(changed(cell, cell.value(), label)));
      }
      case PASS_ALL,
          BLOCK_ALL,
          ROW_KEY_REGEX,
          ROW_SAMPLE,
          FAMILY_REGEX,
          QUALIFIER_REGEX,
          COLUMN_RANGE,
          COLUMN_IS,
          VALUE_REGEX,
          VALUE_RANGE,
          VALUE_IS,
          TIMESTAMP_RANGE,
          CELLS_PER_ROW_LIMIT,
          CELLS_PER_ROW_OFFSET,
          CELLS_PER_COLUMN_LIMIT -> {
        for (int i = 0; i < cells.size(); i++) {
          if (passes(filter, row, cells, i)) {
            passed.add(cells.get(i));
          }
        }
      }
    }
    return passed;
  }

  /** Whether the cell at {@code place} passes a filter that leaves cells as they are. */
  private static boolean passes(Filter filter, Bytes row, List<Cell> cells, int place) {
    Cell cell = cells.get(place);
    return switch (filter.kind()) {
      case PASS_ALL -> true;
      case BLOCK_ALL -> false;
      case ROW_KEY_REGEX -> matches(((Filter.RowKeyRegex) filter).pattern(), row);
      case ROW_SAMPLE ->
          position(row).compareTo(new BigDecimal(((Filter.RowSample) filter).probability())) < 0;
      case FAMILY_REGEX ->
          matches(((Filter.FamilyRegex) filter).pattern(), Bytes.of(cell.family()));
      case QUALIFIER_REGEX -> matches(((Filter.QualifierRegex) filter).pattern(), cell.qualifier());
      case COLUMN_RANGE -> {
        Filter.ColumnRange range = (Filter.ColumnRange) filter;
        yield range.family().equals(cell.family())
            && isIn(cell.qualifier(), range.start(), range.end());
      }
      case COLUMN_IS ->
          ((Filter.ColumnIs) filter).column().equals(new Column(cell.family(), cell.qualifier()));
      case VALUE_REGEX -> matches(((Filter.ValueRegex) filter).pattern(), cell.value());
      case VALUE_RANGE -> {
        Filter.ValueRange range = (Filter.ValueRange) filter;
        yield isIn(cell.value(), range.start(), range.end());
      }
      case VALUE_IS -> ((Filter.ValueIs) filter).value().equals(cell.value());
      case TIMESTAMP_RANGE -> {
        Filter.TimestampRange times = (Filter.TimestampRange) filter;
        yield cell.timestampMicros() >= times.range().fromMicros()
            && cell.timestampMicros() < times.range().toMicros();
      }
      case CELLS_PER_ROW_LIMIT -> place < ((Filter.CellsPerRowLimit) filter).count();
      case CELLS_PER_ROW_OFFSET -> place >= ((Filter.CellsPerRowOffset) filter).count();
      case CELLS_PER_COLUMN_LIMIT -> {
        long newer =
            cells.subList(0, place).stream()
                .filter(one -> one.family().equals(cell.family()))
                .filter(one -> one.qualifier().equals(cell.qualifier()))
                .count();
        yield newer < ((Filter.CellsPerColumnLimit) filter).count();
      }
      case STRIP_VALUE, LABEL, CHAIN, INTERLEAVE, CONDITION ->
          throw new IllegalArgumentException("not judged cell by cell: " + filter);
    };
  }

  private static Cell changed(Cell cell, Bytes value, List<String> moreLabels) {
    List<String> labels = new ArrayList<>(cell.labels());
    labels.addAll(moreLabels);
    return new Cell(cell.family(), cell.qualifier(), cell.timestampMicros(), value, labels);
  }

  /** Puts a cell behind all that are not after it in the order of cells. */
  private static void insert(List<Cell> cells, Cell cell) {
    int place = cells.size();
    while (place > 0 && ORDER.compare(cells.get(place - 1), cell) > 0) {
      place--;
    }
    cells.add(place, cell);
  }

  private static boolean matches(String pattern, Bytes bytes) {
    String text = new String(bytes.toByteArray(), StandardCharsets.ISO_8859_1);
    return Pattern.compile(pattern, Pattern.DOTALL).matcher(text).matches();
  }

  private static boolean isIn(Bytes bytes, Bytes start, Bytes end) {
    return bytes.compareTo(start) >= 0 && (end.isEmpty() || bytes.compareTo(end) < 0);
  }

  /** Where in [0, 1) a row falls. */
  private static BigDecimal position(Bytes row) {
    BigInteger hash = new BigInteger("cbf29ce484222325", 16);
    for (byte b : row.toByteArray()) {
      hash = times(hash.xor(BigInteger.valueOf(Byte.toUnsignedLong(b))), "100000001b3");
    }
    hash = times(hash.xor(hash.shiftRight(33)), "ff51afd7ed558ccd");
    hash = times(hash.xor(hash.shiftRight(33)), "c4ceb9fe1a85ec53");
    hash = hash.xor(hash.shiftRight(33)).shiftRight(11);
    return new BigDecimal(hash).divide(new BigDecimal(BigInteger.TWO.pow(53)));
  }

  private static BigInteger times(BigInteger number, String hexFactor) {
    return number.multiply(new BigInteger(hexFactor, 16)).and(MASK);
  }
}
