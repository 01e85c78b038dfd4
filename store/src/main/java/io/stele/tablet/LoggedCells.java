package io.stele.tablet;

import io.stele.format.ByteWriter;
import io.stele.format.CellBlockCursor;
import io.stele.format.CellBlockWriter;
import io.stele.format.MutationBlock;
import io.stele.memtable.Memtable;
import io.stele.model.Bytes;
import io.stele.model.Edit;
import io.stele.model.Mutation;
import java.io.IOException;

/**
 * The cells of an operation in the encoding of the log. Only this class puts cells into a memtable,
 * both when an operation is applied and when it is replayed.
 *
 * <p>A write copies a value twice: into this block, which the log writes out as it is, and from it
 * into the memtable.
 */
final class LoggedCells {
  private final byte[] block;
  private final int length;

  private LoggedCells(byte[] block, int length) {
    this.block = block;
    this.length = length;
  }

  /** The cells of {@code mutation}; none if it has no edits. */
  static LoggedCells encode(Mutation mutation, long sequence, long serverTimestamp) {
    CellBlockWriter writer = CellBlockWriter.sequential(roughly(mutation));
    MutationBlock.write(mutation, sequence, serverTimestamp, writer);
    ByteWriter bytes = writer.finish();
    return new LoggedCells(bytes.array(), bytes.size());
  }

  /** How long the block will be, so that it need not grow. */
  private static int roughly(Mutation mutation) {
    long bytes = 64L + mutation.row().length();
    for (Edit edit : mutation.edits()) {
      bytes += 32;
      if (edit instanceof Edit.Put put) {
        bytes += put.qualifier().length() + put.value().length();
      }
    }
    return (int) Math.min(bytes, Integer.MAX_VALUE - 8L);
  }

  /** The cells of a log record. */
  static LoggedCells of(Bytes cells) {
    return new LoggedCells(cells.toByteArray(), cells.length());
  }

  /** The cells as a log record has them; shares their memory. */
  Bytes bytes() {
    return Bytes.wrap(block, 0, length);
  }

  /** Adds all of them to {@code memtable}. */
  void addTo(Memtable memtable) throws IOException {
    CellBlockCursor cell = CellBlockCursor.sequential(block, 0, length);
    while (cell.next()) {
      memtable.add(cell);
    }
  }
}
