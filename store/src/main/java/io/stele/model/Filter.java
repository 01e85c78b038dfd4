package io.stele.model;

import java.io.Serializable;
import java.util.List;

/**
 * Decides which cells of a row a read returns. Filters form an algebra, which the tablet server
 * evaluates, row by row, over the cells that the garbage collection policy leaves visible. Its
 * model is the RowFilter of Cloud Bigtable.
 *
 * <p>Regular expressions are RE2's, matched against the whole key or value as bytes (Latin-1), in
 * linear time.
 */
public sealed interface Filter extends Serializable {
  /** The kinds of filter. */
  enum Kind {
    PASS_ALL,
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
    CELLS_PER_COLUMN_LIMIT,
    STRIP_VALUE,
    LABEL,
    CHAIN,
    INTERLEAVE,
    CONDITION
  }

  /** Which kind of filter this is: a switch over it names them all. */
  Kind kind();

  /** Lets every cell through. */
  record PassAll() implements Filter {
    @Override
    public Kind kind() {
      return Kind.PASS_ALL;
    }
  }

  /** Lets no cell through. */
  record BlockAll() implements Filter {
    @Override
    public Kind kind() {
      return Kind.BLOCK_ALL;
    }
  }

  /** Rows whose key matches. */
  record RowKeyRegex(String pattern) implements Filter {
    @Override
    public Kind kind() {
      return Kind.ROW_KEY_REGEX;
    }
  }

  /**
   * A sample of the rows: each row passes with this probability, and the same rows pass each time.
   * A row passes where its hash is below {@code probability}: FNV-1a of the key in 64 bits, mixed
   * by the finisher of MurmurHash3, its upper 53 bits as a fraction of 1.
   */
  record RowSample(double probability) implements Filter {
    public RowSample {
      if (!(probability >= 0 && probability <= 1)) {
        throw SteleException.refused("a sample's probability must be 0 to 1, not " + probability);
      }
    }

    @Override
    public Kind kind() {
      return Kind.ROW_SAMPLE;
    }
  }

  /** Cells whose family's name matches. */
  record FamilyRegex(String pattern) implements Filter {
    @Override
    public Kind kind() {
      return Kind.FAMILY_REGEX;
    }
  }

  /** Cells whose qualifier matches. */
  record QualifierRegex(String pattern) implements Filter {
    @Override
    public Kind kind() {
      return Kind.QUALIFIER_REGEX;
    }
  }

  /**
   * Cells of one family whose qualifier is in [{@code start}, {@code end}); an empty end is no end.
   */
  record ColumnRange(String family, Bytes start, Bytes end) implements Filter {
    @Override
    public Kind kind() {
      return Kind.COLUMN_RANGE;
    }
  }

  /** Cells of exactly this column. */
  record ColumnIs(Column column) implements Filter {
    @Override
    public Kind kind() {
      return Kind.COLUMN_IS;
    }
  }

  /** Cells whose value matches. */
  record ValueRegex(String pattern) implements Filter {
    @Override
    public Kind kind() {
      return Kind.VALUE_REGEX;
    }
  }

  /** Cells whose value is in [{@code start}, {@code end}); an empty end is no end. */
  record ValueRange(Bytes start, Bytes end) implements Filter {
    @Override
    public Kind kind() {
      return Kind.VALUE_RANGE;
    }
  }

  /** Cells with exactly this value. */
  record ValueIs(Bytes value) implements Filter {
    @Override
    public Kind kind() {
      return Kind.VALUE_IS;
    }
  }

  /** Cells whose timestamp is in the range. */
  record TimestampRange(TimeRange range) implements Filter {
    @Override
    public Kind kind() {
      return Kind.TIMESTAMP_RANGE;
    }
  }

  /** The first {@code count} cells of the row. */
  record CellsPerRowLimit(int count) implements Filter {
    public CellsPerRowLimit {
      checkCount(count);
    }

    @Override
    public Kind kind() {
      return Kind.CELLS_PER_ROW_LIMIT;
    }
  }

  /** All but the first {@code count} cells of the row. */
  record CellsPerRowOffset(int count) implements Filter {
    public CellsPerRowOffset {
      checkCount(count);
    }

    @Override
    public Kind kind() {
      return Kind.CELLS_PER_ROW_OFFSET;
    }
  }

  /** The newest {@code count} versions of each column. */
  record CellsPerColumnLimit(int count) implements Filter {
    public CellsPerColumnLimit {
      checkCount(count);
    }

    @Override
    public Kind kind() {
      return Kind.CELLS_PER_COLUMN_LIMIT;
    }
  }

  /** Every cell, its value made empty. */
  record StripValue() implements Filter {
    @Override
    public Kind kind() {
      return Kind.STRIP_VALUE;
    }
  }

  /** Every cell, with {@code label} added. */
  record Label(String label) implements Filter {
    @Override
    public Kind kind() {
      return Kind.LABEL;
    }
  }

  /** Applies the filters in order, each to what the one before it passed. */
  record Chain(List<Filter> filters) implements Filter {
    public Chain {
      filters = List.copyOf(filters);
    }

    @Override
    public Kind kind() {
      return Kind.CHAIN;
    }
  }

  /**
   * The cells that pass any of the filters, each applied to the whole input; a cell that passes two
   * filters comes twice.
   */
  record Interleave(List<Filter> filters) implements Filter {
    public Interleave {
      filters = List.copyOf(filters);
    }

    @Override
    public Kind kind() {
      return Kind.INTERLEAVE;
    }
  }

  /**
   * Applies {@code ifTrue} if {@code predicate} lets any cell of the row through, else {@code
   * ifFalse}.
   */
  record Condition(Filter predicate, Filter ifTrue, Filter ifFalse) implements Filter {
    @Override
    public Kind kind() {
      return Kind.CONDITION;
    }
  }

  /** The filters in order, each applied to what the one before it passed. */
  static Filter chain(Filter... filters) {
    return new Chain(List.of(filters));
  }

  /** The cells that pass any of the filters, each applied to the whole input. */
  static Filter interleave(Filter... filters) {
    return new Interleave(List.of(filters));
  }

  /**
   * The newest version of {@code column}, if it has exactly {@code value}: the predicate of a
   * compare-and-set.
   */
  static Filter newestIs(Column column, Bytes value) {
    return chain(new ColumnIs(column), new CellsPerColumnLimit(1), new ValueIs(value));
  }

  private static void checkCount(int count) {
    if (count < 0) {
      throw SteleException.refused("a count of cells must be 0 or more, not " + count);
    }
  }
}
