package io.stele.model;

/**
 * How much memory an operation takes once it is applied: each of its edits is a cell with its own
 * copy of the key, the row's included, however little the request says that.
 */
public final class OperationSize {
  /** What a cell takes beside key and value: its numbers and links. */
  private static final long CELL_BYTES = 64;

  private OperationSize() {}

  /**
   * The size of an operation's cells, in bytes, at most; of a {@link ReadModifyWrite} without what
   * the row already holds.
   */
  public static long of(RowOperation operation) {
    return switch (operation.kind()) {
      case MUTATION -> of((Mutation) operation);
      case CHECK_AND_MUTATE -> {
        CheckAndMutate conditional = (CheckAndMutate) operation;
        yield Math.max(of(conditional.ifTrue()), of(conditional.ifFalse()));
      }
      case READ_MODIFY_WRITE -> {
        long bytes = 0;
        for (ReadModifyWrite.Rule rule : ((ReadModifyWrite) operation).rules()) {
          long value =
              switch (rule.kind()) {
                case APPEND -> ((ReadModifyWrite.Append) rule).suffix().length();
                case INCREMENT -> Long.BYTES;
              };
          bytes += cell(operation.row(), rule.family(), rule.qualifier(), value);
        }
        yield bytes;
      }
    };
  }

  private static long of(Mutation mutation) {
    Bytes row = mutation.row();
    long bytes = 0;
    for (Edit edit : mutation.edits()) {
      bytes +=
          switch (edit.kind()) {
            case PUT -> {
              Edit.Put put = (Edit.Put) edit;
              yield cell(row, put.family(), put.qualifier(), put.value().length());
            }
            case DELETE_CELL -> {
              Edit.DeleteCell delete = (Edit.DeleteCell) edit;
              yield cell(row, delete.family(), delete.qualifier(), 0);
            }
            case DELETE_COLUMN -> {
              Edit.DeleteColumn delete = (Edit.DeleteColumn) edit;
              yield cell(row, delete.family(), delete.qualifier(), 0);
            }
            case DELETE_FAMILY -> cell(row, ((Edit.DeleteFamily) edit).family(), Bytes.EMPTY, 0);
            case DELETE_ROW -> cell(row, "", Bytes.EMPTY, 0);
          };
    }
    return bytes;
  }

  /** The size of one cell. */
  public static long cell(Bytes row, String family, Bytes qualifier, long valueBytes) {
    return CELL_BYTES + row.length() + family.length() + qualifier.length() + valueBytes;
  }
}
