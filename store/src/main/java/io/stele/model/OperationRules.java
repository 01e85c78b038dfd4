package io.stele.model;

import java.util.Set;
import java.util.stream.Collectors;

/**
 * Which operations and queries a table allows. The client makes this check before it sends a
 * request, and the tablet server repeats it before it acts. {@link Limits} checks what needs no
 * schema, where a value is made.
 *
 * <p>A refusal changes nothing. NOT_FOUND means that the schema lacks a family: a client may then
 * try again with a fresher schema. Every other refusal holds under any schema.
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
        checkFilter(conditional.predicate());
        checkEdits(conditional.ifTrue(), valueBytesMax);
        checkEdits(conditional.ifFalse(), valueBytesMax);
      }
      case READ_MODIFY_WRITE -> checkRules((ReadModifyWrite) operation, valueBytesMax);
    }
  }

  /**
   * Refuses a query that names a family that the table does not have, or whose filter goes beyond a
   * limit or has a bad regular expression.
   *
   * @throws SteleException NOT_FOUND for a family that the table does not have, otherwise REFUSED
   */
  public void check(RowQuery query) {
    query.families().forEach(this::checkFamily);
    query.columns().forEach(column -> checkFamily(column.family()));
    query.filter().ifPresent(this::checkFilter);
  }

  /**
   * Refuses a mutation without edits: only a {@link CheckAndMutate} may do nothing.
   *
   * @throws SteleException REFUSED
   */
  public static void checkHasEdits(Mutation mutation) {
    if (mutation.edits().isEmpty()) {
      throw SteleException.refused(
          "a mutation of row \"" + mutation.row() + "\" has no edits: add a put or a delete");
    }
  }

  private void checkEdits(Mutation mutation, long valueBytesMax) {
    for (Edit edit : mutation.edits()) {
      switch (edit.kind()) {
        case PUT -> {
          Edit.Put put = (Edit.Put) edit;
          checkWritten(put.family());
          checkValue(mutation.row(), put.family(), put.qualifier(), put.value(), valueBytesMax);
        }
        case DELETE_CELL -> checkFamily(((Edit.DeleteCell) edit).family());
        case DELETE_COLUMN -> checkFamily(((Edit.DeleteColumn) edit).family());
        case DELETE_FAMILY -> checkFamily(((Edit.DeleteFamily) edit).family());
        case DELETE_ROW -> {}
      }
    }
    Limits.checkMutationBytes(mutation.row(), OperationSize.of(mutation));
  }

  private void checkRules(ReadModifyWrite change, long valueBytesMax) {
    for (ReadModifyWrite.Rule rule : change.rules()) {
      checkWritten(rule.family());
      switch (rule.kind()) {
        case APPEND -> {
          Bytes suffix = ((ReadModifyWrite.Append) rule).suffix();
          checkValue(change.row(), rule.family(), rule.qualifier(), suffix, valueBytesMax);
        }
        case INCREMENT -> {}
      }
    }
    Limits.checkMutationBytes(change.row(), OperationSize.of(change));
  }

  private void checkFilter(Filter filter) {
    FilterRules.check(filter, this::checkFamily);
  }

  private void checkWritten(String family) {
    try {
      checkFamily(family);
    } catch (SteleException e) {
      throw SteleException.notFound(e.getMessage() + ". Add the family to the table first");
    }
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
              + valueBytesMax
              + " (stele.value.bytes.max); raise it, or write the value in several cells");
    }
  }
}
