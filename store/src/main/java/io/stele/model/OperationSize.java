package io.stele.model;

/**
 * How much memory an operation takes once it is applied. Each of its edits becomes a cell with its
 * own copy of the key, row key included, even though the request contains the row key only once. A
 * key has two bytes for each zero byte of the row and the qualifier.
 */
public final class OperationSize {
  /** What a cell takes beside key and value: its numbers and links, and the ends of key parts. */
  private static final long CELL_BYTES = 64;

  private OperationSize() {}

  /**
   * An upper bound on the size of an operation's cells, in bytes; for a {@link ReadModifyWrite},
   * without what the row already contains.
   */
  public static long of(RowOperation operation) {
    return switch (operation.kind()) {
      case MUTATION -> of((Mutation) operation);
      case CHECK_AND_MUTATE -> {
        CheckAndMutate conditional = (CheckAndMutate) operation;
        yield Math.max(of(conditional.ifTrue()), of(conditional.ifFalse()));
      }
      case READ_MODIFY_WRITE -> {
        long row = keyBytes(operation.row());
        long bytes = 0;
        for (ReadModifyWrite.Rule rule : ((ReadModifyWrite) operation).rules()) {
          long value =
              switch (rule.kind()) {
                case APPEND -> ((ReadModifyWrite.Append) rule).suffix().length();
                case INCREMENT -> Long.BYTES;
              };
          bytes += cell(row, rule.family(), rule.qualifier(), value);
        }
        yield bytes;
      }
    };
  }

  private static long of(Mutation mutation) {
    long row = keyBytes(mutation.row());
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

  /**
   * The size of one cell.
   *
   * @param rowKeyBytes {@link #keyBytes} of its row, which a caller with many cells counts once
   */
  public static long cell(long rowKeyBytes, String family, Bytes qualifier, long valueBytes) {
    return CELL_BYTES + rowKeyBytes + family.length() + keyBytes(qualifier) + valueBytes;
  }

  /** How many bytes a row or qualifier takes in the key of a cell. */
  public static long keyBytes(Bytes part) {
    long bytes = part.length();
    for (int i = 0; i < part.length(); i++) {
      if (part.at(i) == 0) {
        bytes++;
      }
    }
    return bytes;
  }
}
