package io.stele.model;

import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Which operations and queries a table allows: the one check that the client makes before it sends
 * and the tablet server repeats before it acts. What needs no schema is checked where a value is
 * made, by {@link Limits}.
 *
 * <p>A refusal changes nothing. NOT_FOUND means that the schema lacks a family: a client may look
 * at a fresher schema then. Every other refusal holds under any schema.
 *
 * <p>Immutable, safe for use by any number of threads.
 */
public final class OperationRules {
  private final TableSchema schema;
  private final Set<String> families;

  /** The rules of a table with {@code schema}. */
  public OperationRules(TableSchema schema) {
    this.schema = schema;
    this.families =
        schema.families().stream().map(ColumnFamily::name).collect(Collectors.toUnmodifiableSet());
  }

  /** The table's schema. */
  public TableSchema schema() {
    return schema;
  }

  /**
   * Refuses an operation that the schema or a limit does not allow.
   *
   * @param valueBytesMax the largest value, in bytes
   * @throws SteleException NOT_FOUND for a family that the table does not have, otherwise REFUSED
   */
  public void check(RowOperation operation, long valueBytesMax) {
    switch (operation.kind()) {
      case MUTATION -> {
        Mutation mutation = (Mutation) operation;
        checkHasEdits(mutation);
        checkEdits(mutation, valueBytesMax);
      }
      case CHECK_AND_MUTATE -> {
        CheckAndMutate conditional = (CheckAndMutate) operation;
        checkFilter(conditional.predicate(), 1);
        checkEdits(conditional.ifTrue(), valueBytesMax);
        checkEdits(conditional.ifFalse(), valueBytesMax);
      }
      case READ_MODIFY_WRITE -> checkRules((ReadModifyWrite) operation, valueBytesMax);
    }
  }

  /**
   * Refuses a query that names a family that the table does not have, or whose filter nests too
   * deep.
   *
   * @throws SteleException NOT_FOUND for a family that the table does not have, otherwise REFUSED
   */
  public void check(RowQuery query) {
    query.families().forEach(this::checkFamily);
    query.columns().forEach(column -> checkFamily(column.family()));
    query.filter().ifPresent(filter -> checkFilter(filter, 1));
  }

  /**
   * Refuses a mutation without edits: only a {@link CheckAndMutate} may do nothing.
   *
   * @throws SteleException REFUSED
   */
  public static void checkHasEdits(Mutation mutation) {
    if (mutation.edits().isEmpty()) {
      throw SteleException.refused(
          "a mutation of row \"" + mutation.row() + "\" has no edits: put or delete something");
    }
  }

  private void checkEdits(Mutation mutation, long valueBytesMax) {
    long bytes = 0;
    for (Edit edit : mutation.edits()) {
      switch (edit.kind()) {
        case PUT -> {
          Edit.Put put = (Edit.Put) edit;
          checkFamily(put.family());
          checkValue(mutation.row(), put.family(), put.qualifier(), put.value(), valueBytesMax);
          bytes += put.qualifier().length() + (long) put.value().length();
        }
        case DELETE_CELL -> checkFamily(((Edit.DeleteCell) edit).family());
        case DELETE_COLUMN -> checkFamily(((Edit.DeleteColumn) edit).family());
        case DELETE_FAMILY -> checkFamily(((Edit.DeleteFamily) edit).family());
        case DELETE_ROW -> {}
      }
    }
    Limits.checkMutationBytes(mutation.row(), bytes);
  }

  private void checkRules(ReadModifyWrite change, long valueBytesMax) {
    long bytes = 0;
    for (ReadModifyWrite.Rule rule : change.rules()) {
      checkFamily(rule.family());
      bytes += rule.qualifier().length();
      switch (rule.kind()) {
        case APPEND -> {
          Bytes suffix = ((ReadModifyWrite.Append) rule).suffix();
          checkValue(change.row(), rule.family(), rule.qualifier(), suffix, valueBytesMax);
          bytes += suffix.length();
        }
        case INCREMENT -> bytes += Long.BYTES;
      }
    }
    Limits.checkMutationBytes(change.row(), bytes);
  }

  private void checkFilter(Filter filter, int depth) {
    Limits.checkFilterDepth(depth);
    switch (filter.kind()) {
      case COLUMN_RANGE -> checkFamily(((Filter.ColumnRange) filter).family());
      case COLUMN_IS -> checkFamily(((Filter.ColumnIs) filter).column().family());
      case CHAIN -> checkFilters(((Filter.Chain) filter).filters(), depth + 1);
      case INTERLEAVE -> checkFilters(((Filter.Interleave) filter).filters(), depth + 1);
      case CONDITION -> {
        Filter.Condition condition = (Filter.Condition) filter;
        checkFilter(condition.predicate(), depth + 1);
        checkFilter(condition.ifTrue(), depth + 1);
        checkFilter(condition.ifFalse(), depth + 1);
      }
      case PASS_ALL,
          BLOCK_ALL,
          ROW_KEY_REGEX,
          ROW_SAMPLE,
          FAMILY_REGEX,
          QUALIFIER_REGEX,
          VALUE_REGEX,
          VALUE_RANGE,
          VALUE_IS,
          TIMESTAMP_RANGE,
          CELLS_PER_ROW_LIMIT,
          CELLS_PER_ROW_OFFSET,
          CELLS_PER_COLUMN_LIMIT,
          STRIP_VALUE,
          LABEL -> {}
    }
  }

  private void checkFilters(List<Filter> filters, int depth) {
    filters.forEach(filter -> checkFilter(filter, depth));
  }

  private void checkFamily(String family) {
    if (!families.contains(family)) {
      schema.requireFamily(family);
    }
  }

  private void checkValue(
      Bytes row, String family, Bytes qualifier, Bytes value, long valueBytesMax) {
    if (value.length() > valueBytesMax) {
      throw SteleException.refused(
          "the value of "
              + new Column(family, qualifier)
              + " in row \""
              + row
              + "\" of table "
              + schema.name()
              + " has "
              + value.length()
              + " bytes: the limit is "
              + valueBytesMax);
    }
  }
}
