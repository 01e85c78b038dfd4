package io.stele.model;

import java.util.List;

/**
 * What of a row a read lets through: an algebra evaluated in the tablet server, row by row, over
 * the cells that the garbage collection policy leaves visible. Its model is the RowFilter of Cloud
 * Bigtable.
 *
 * <p>Regular expressions are RE2's, matched against the whole key or value as bytes (Latin-1), in
 * linear time.
 */
public sealed interface Filter {
  /** Lets every cell through. */
  record PassAll() implements Filter {}

  /** Lets no cell through. */
  record BlockAll() implements Filter {}

  /** Rows whose key matches. */
  record RowKeyRegex(String pattern) implements Filter {}

  /** A sample of the rows: each is let through with this probability, the same rows each time. */
  record RowSample(double probability) implements Filter {
    public RowSample {
      if (!(probability >= 0 && probability <= 1)) {
        throw SteleException.refused("a sample's probability is 0 to 1, not " + probability);
      }
    }
  }

  /** Cells whose family's name matches. */
  record FamilyRegex(String pattern) implements Filter {}

  /** Cells whose qualifier matches. */
  record QualifierRegex(String pattern) implements Filter {}

  /**
   * Cells of one family whose qualifier is in [{@code start}, {@code end}); an empty end is no end.
   */
  record ColumnRange(String family, Bytes start, Bytes end) implements Filter {}

  /** Cells of exactly this column. */
  record ColumnIs(Column column) implements Filter {}

  /** Cells whose value matches. */
  record ValueRegex(String pattern) implements Filter {}

  /** Cells whose value is in [{@code start}, {@code end}); an empty end is no end. */
  record ValueRange(Bytes start, Bytes end) implements Filter {}

  /** Cells with exactly this value. */
  record ValueIs(Bytes value) implements Filter {}

  /** Cells whose timestamp is in the range. */
  record TimestampRange(TimeRange range) implements Filter {}

  /** The first {@code count} cells of the row. */
  record CellsPerRowLimit(int count) implements Filter {
    public CellsPerRowLimit {
      checkCount(count);
    }
  }

  /** All but the first {@code count} cells of the row. */
  record CellsPerRowOffset(int count) implements Filter {
    public CellsPerRowOffset {
      checkCount(count);
    }
  }

  /** The newest {@code count} versions of each column. */
  record CellsPerColumnLimit(int count) implements Filter {
    public CellsPerColumnLimit {
      checkCount(count);
    }
  }

  /** Every cell, its value made empty. */
  record StripValue() implements Filter {}

  /** Every cell, with {@code label} added. */
  record Label(String label) implements Filter {}

  /** What passes all filters one after the other. */
  record Chain(List<Filter> filters) implements Filter {
    public Chain {
      filters = List.copyOf(filters);
    }
  }

  /**
   * What passes any of the filters, each given the whole input; a cell that passes two comes twice.
   */
  record Interleave(List<Filter> filters) implements Filter {
    public Interleave {
      filters = List.copyOf(filters);
    }
  }

  /**
   * {@code ifTrue} where {@code predicate} lets any cell of the row through, else {@code ifFalse}.
   */
  record Condition(Filter predicate, Filter ifTrue, Filter ifFalse) implements Filter {}

  /** Both, one after the other. */
  static Filter chain(Filter... filters) {
    return new Chain(List.of(filters));
  }

  /** The newest version of {@code column} has exactly {@code value}: what compare-and-set asks. */
  static Filter newestIs(Column column, Bytes value) {
    return chain(new ColumnIs(column), new CellsPerColumnLimit(1), new ValueIs(value));
  }

  private static void checkCount(int count) {
    if (count < 0) {
      throw SteleException.refused("a count of cells is 0 or more, not " + count);
    }
  }
}
