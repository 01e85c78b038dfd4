package io.stele.tablet;

import io.stele.format.ColumnKey;
import io.stele.model.Bytes;
import io.stele.model.Column;
import io.stele.model.Filter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * Which columns of a row a read wants, as prefixes of what follows the row part of a column key, in
 * order and none within another. Immutable.
 */
final class ColumnSelection {
  /** Every column. */
  static final ColumnSelection ALL = new ColumnSelection(List.of(), Set.of(), false);

  private final byte[][] wanted;
  private final Set<String> families;
  private final boolean columnsOnly;

  private ColumnSelection(List<byte[]> wanted, Set<String> families, boolean columnsOnly) {
    this.wanted = wanted.toArray(new byte[0][]);
    this.families = families;
    this.columnsOnly = columnsOnly;
  }

  /** Whole families and single columns; neither: all. */
  static ColumnSelection of(Collection<String> families, Collection<Column> columns) {
    TreeSet<Bytes> prefixes = new TreeSet<>();
    Set<String> whole = new HashSet<>(families);
    Set<String> all = new HashSet<>(whole);
    columns.forEach(column -> all.add(column.family()));
    for (String family : whole) {
      prefixes.add(suffix(ColumnKey.ofFamily(Bytes.EMPTY, family)));
    }
    for (Column column : columns) {
      if (!whole.contains(column.family())) {
        prefixes.add(suffix(ColumnKey.of(Bytes.EMPTY, column.family(), column.qualifier())));
      }
    }
    List<byte[]> wanted = new ArrayList<>();
    prefixes.forEach(prefix -> wanted.add(prefix.toByteArray()));
    return wanted.isEmpty() ? ALL : new ColumnSelection(wanted, all, families.isEmpty());
  }

  /**
   * Columns whose cells alone decide what of a row passes {@code filter}; all of them, unless it
   * names columns before anything else.
   */
  static ColumnSelection decidingFor(Filter filter) {
    List<Column> named = new ArrayList<>();
    return namesColumns(filter, named) ? of(List.of(), named) : ALL;
  }

  /** Whether the filter lets only cells of columns pass that it names; adds these. */
  private static boolean namesColumns(Filter filter, List<Column> named) {
    return switch (filter.kind()) {
      case COLUMN_IS -> named.add(((Filter.ColumnIs) filter).column());
      case CHAIN ->
          ((Filter.Chain) filter)
              .filters().stream().limit(1).anyMatch(one -> namesColumns(one, named));
      case INTERLEAVE ->
          ((Filter.Interleave) filter).filters().stream().allMatch(one -> namesColumns(one, named));
      case CONDITION -> {
        Filter.Condition condition = (Filter.Condition) filter;
        yield namesColumns(condition.predicate(), named)
            && namesColumns(condition.ifTrue(), named)
            && namesColumns(condition.ifFalse(), named);
      }
      default -> false;
    };
  }

  /** Whether every column is wanted. */
  boolean isAll() {
    return wanted.length == 0;
  }

  /** Whether columns of any of these families are wanted. */
  boolean wantsAnyOf(Collection<String> families) {
    return isAll() || families.stream().anyMatch(this.families::contains);
  }

  /** Whether only single columns are wanted. */
  boolean isColumns() {
    return columnsOnly;
  }

  /** The prefixes, in order. They do not have the row: its key may be long, and they many. */
  List<byte[]> prefixes() {
    return Collections.unmodifiableList(Arrays.asList(wanted));
  }

  /** Number of prefixes. */
  int size() {
    return wanted.length;
  }

  /**
   * Where a column key's part from {@code rowEnd} on stands to prefix {@code i}: 0 if it begins
   * with it, below 0 if it comes before, above 0 if it comes after.
   */
  int compare(byte[] key, int keyLength, int rowEnd, int i) {
    byte[] prefix = wanted[i];
    int length = Math.min(keyLength - rowEnd, prefix.length);
    int order = Arrays.compareUnsigned(key, rowEnd, rowEnd + length, prefix, 0, length);
    return order != 0 || length == prefix.length ? order : -1;
  }

  /** The key to seek for prefix {@code i} in the row whose part is the first of {@code key}. */
  byte[] target(byte[] key, int rowEnd, int i, boolean familyOnly) {
    byte[] prefix = wanted[i];
    int length = familyOnly ? familyLength(prefix) : prefix.length;
    byte[] target = Arrays.copyOf(key, rowEnd + length);
    System.arraycopy(prefix, 0, target, rowEnd, length);
    return target;
  }

  private static int familyLength(byte[] prefix) {
    int end = 0;
    while (prefix[end] != 0) {
      end++;
    }
    return end + 1;
  }

  private static Bytes suffix(byte[] key) {
    int emptyRow = ColumnKey.ofRow(Bytes.EMPTY).length;
    return Bytes.wrap(key, emptyRow, key.length - emptyRow);
  }
}
