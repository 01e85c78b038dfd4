package io.stele.tablet;

import io.stele.model.Bytes;
import io.stele.model.CheckAndMutate;
import io.stele.model.Edit;
import io.stele.model.Mutation;
import io.stele.model.ReadModifyWrite;
import io.stele.model.RowOperation;
import io.stele.model.SteleException;

/** What an operation must be to be let in at all. */
final class OperationCheck {
  /** Most bytes in one mutation: it must fit into a log record and into memory several times. */
  private static final long MUTATION_BYTES_MAX = 256L << 20;

  private OperationCheck() {}

  /**
   * Refuses an operation that the schema or a limit does not allow.
   *
   * @throws SteleException NOT_FOUND for a family that the table has not, else REFUSED
   */
  static void check(RowOperation operation, SchemaRules rules, long valueBytesMax) {
    if (operation instanceof Mutation mutation) {
      check(mutation, rules, valueBytesMax);
      if (mutation.edits().isEmpty()) {
        throw SteleException.refused(
            "a mutation of row \"" + mutation.row() + "\" has no edits: add one");
      }
    } else if (operation instanceof CheckAndMutate conditional) {
      check(conditional.ifTrue(), rules, valueBytesMax);
      check(conditional.ifFalse(), rules, valueBytesMax);
    } else if (operation instanceof ReadModifyWrite change) {
      for (ReadModifyWrite.Rule rule : change.rules()) {
        rules.checkFamily(rule.family());
        if (rule instanceof ReadModifyWrite.Append append) {
          checkValue(change.row(), rule.family(), rule.qualifier(), append.suffix(), valueBytesMax);
        }
      }
    }
  }

  /** Refuses a value above the limit. */
  static void checkValue(
      Bytes row, String family, Bytes qualifier, Bytes value, long valueBytesMax) {
    if (value.length() > valueBytesMax) {
      throw SteleException.refused(
          "the value for "
              + family
              + ":"
              + qualifier
              + " of row \""
              + row
              + "\" has "
              + value.length()
              + " bytes: the limit is "
              + valueBytesMax);
    }
  }

  private static void check(Mutation mutation, SchemaRules rules, long valueBytesMax) {
    long bytes = 0;
    for (Edit edit : mutation.edits()) {
      if (edit instanceof Edit.Put put) {
        rules.checkFamily(put.family());
        checkValue(mutation.row(), put.family(), put.qualifier(), put.value(), valueBytesMax);
        bytes += put.qualifier().length() + (long) put.value().length();
      } else if (edit instanceof Edit.DeleteCell delete) {
        rules.checkFamily(delete.family());
      } else if (edit instanceof Edit.DeleteColumn delete) {
        rules.checkFamily(delete.family());
      } else if (edit instanceof Edit.DeleteFamily delete) {
        rules.checkFamily(delete.family());
      }
    }
    if (bytes > MUTATION_BYTES_MAX) {
      throw SteleException.refused(
          "a mutation of row \""
              + mutation.row()
              + "\" has "
              + bytes
              + " bytes: the limit is "
              + MUTATION_BYTES_MAX
              + "; make it several");
    }
  }
}
