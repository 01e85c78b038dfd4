package io.stele.tablet;

import io.stele.format.ByteWriter;
import io.stele.format.CellBlockCursor;
import io.stele.format.CellBlockWriter;
import io.stele.format.MutationBlock;
import io.stele.memtable.Memtable;
import io.stele.model.Bytes;
import io.stele.model.Mutation;
import java.io.IOException;
import java.util.Arrays;

/**
 * The cells of an operation as the log has them, and their way into a memtable: one and the same
 * when an operation is applied and when it is replayed, so that both come to the same.
 */
final class LoggedCells {
  private LoggedCells() {}

  /** The cells of {@code mutation}; none where it has no edits. */
  static Bytes encode(Mutation mutation, long sequence, long serverTimestamp) {
    CellBlockWriter block = CellBlockWriter.sequential(256);
    MutationBlock.write(mutation, sequence, serverTimestamp, block);
    ByteWriter bytes = block.finish();
    return Bytes.wrap(bytes.size() == bytes.array().length ? bytes.array() : bytes.toByteArray());
  }

  /** Adds all cells to {@code memtable}. */
  static void addTo(Memtable memtable, Bytes cells) throws IOException {
    byte[] block = cells.toByteArray();
    CellBlockCursor cell = CellBlockCursor.sequential(block, 0, block.length);
    while (cell.next()) {
      memtable.add(
          Arrays.copyOf(cell.key(), cell.keyLength()),
          cell.timestamp(),
          cell.sequence(),
          cell.ordinal(),
          cell.type(),
          Arrays.copyOfRange(
              cell.valueArray(), cell.valueOffset(), cell.valueOffset() + cell.valueLength()));
    }
  }
}
