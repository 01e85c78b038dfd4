package io.stele.tablet;

import io.stele.format.ByteWriter;
import io.stele.format.CellBlockCursor;
import io.stele.format.CellBlockWriter;
import io.stele.format.CellType;
import io.stele.format.ColumnKey;
import io.stele.model.Bytes;
import io.stele.model.Cell;
import io.stele.model.Column;
import io.stele.model.OperationId;
import io.stele.model.Row;
import io.stele.model.SteleException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * Results of operations as bytes, kept to answer retries.
 *
 * <pre>
 * result := nothing                   applied
 *         | 0                         the predicate did not hold
 *         | 1 cells                   the row of new cells, as a sequential cell block
 *         | 2                         there was a row, too large to be remembered
 * </pre>
 */
final class OperationResults {
  private static final int NOT_MATCHED = 0;
  private static final int ROW = 1;
  private static final int TOO_LARGE = 2;

  /** A longer result is not remembered. */
  static final int BYTES_MAX = 64 << 10;

  private OperationResults() {}

  static Bytes encode(OperationResult result) {
    if (result.row().isPresent()) {
      Row row = result.row().get();
      if (row.cells().stream().mapToLong(OperationResults::bytes).sum() > BYTES_MAX) {
        return Bytes.of(new byte[] {TOO_LARGE});
      }
      CellBlockWriter block = CellBlockWriter.sequential(256);
      for (Cell cell : row.cells()) {
        byte[] key = ColumnKey.of(row.key(), cell.family(), cell.qualifier());
        block.add(key, cell.timestampMicros(), 0, 0, CellType.PUT, cell.value());
      }
      ByteWriter cells = block.finish();
      return Bytes.wrap(
          new ByteWriter(1 + cells.size())
              .writeByte(ROW)
              .write(cells.array(), 0, cells.size())
              .toByteArray());
    }
    return result.matched() ? Bytes.EMPTY : Bytes.of(new byte[] {NOT_MATCHED});
  }

  private static long bytes(Cell cell) {
    return cell.qualifier().length() + (long) cell.value().length();
  }

  static CompletableFuture<OperationResult> decode(OperationId id, Bytes result) {
    if (result.isEmpty()) {
      return CompletableFuture.completedFuture(OperationResult.APPLIED);
    }
    if (result.at(0) == NOT_MATCHED) {
      return CompletableFuture.completedFuture(OperationResult.NOT_MATCHED);
    }
    if (result.at(0) == TOO_LARGE) {
      return CompletableFuture.completedFuture(OperationResult.APPLIED);
    }
    try {
      return CompletableFuture.completedFuture(
          new OperationResult(true, Optional.of(row(result.slice(1, result.length())))));
    } catch (IOException e) {
      return CompletableFuture.failedFuture(
          new SteleException(
              SteleException.Code.CORRUPTION,
              "operation " + id + " was applied, but its result cannot be decoded",
              e));
    }
  }

  private static Row row(Bytes block) throws IOException {
    byte[] bytes = block.toByteArray();
    CellBlockCursor cursor = CellBlockCursor.sequential(bytes, 0, bytes.length);
    List<Cell> cells = new ArrayList<>();
    Bytes row = Bytes.EMPTY;
    while (cursor.next()) {
      row = ColumnKey.row(cursor.key(), cursor.keyLength());
      Column column = ColumnKey.column(cursor.key(), cursor.keyLength());
      cells.add(
          new Cell(
              column.family(),
              column.qualifier(),
              cursor.timestamp(),
              Bytes.of(cursor.valueArray(), cursor.valueOffset(), cursor.valueLength())));
    }
    return new Row(row, cells);
  }
}
