package io.stele.tablet;

import io.stele.format.RowCodec;
import io.stele.model.Bytes;
import io.stele.model.Row;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;

/**
 * One page of a read: rows, each as it was at the read point.
 *
 * @param block what was found, in order, as {@link RowCodec} encodes rows; may have none although
 *     there is more. They are whole, except for the first row if the read began inside it, and the
 *     last row if the page ends inside it
 * @param rowCount how many rows the block has
 * @param readPoint the read point of the page
 * @param nextRow where to go on, in this tablet; empty: there is no more in this tablet
 * @param position where inside {@code nextRow} to go on; empty: at its beginning
 * @param restarted whether the page begins at the beginning of its first row, although it was to
 *     begin inside it: what came of that row before no longer counts
 */
public record ReadResult(
    ByteBuffer block,
    int rowCount,
    long readPoint,
    Optional<Bytes> nextRow,
    Optional<Bytes> position,
    boolean restarted) {
  /** The rows, decoded. */
  public List<Row> rows() {
    try {
      return RowCodec.read(block);
    } catch (IOException e) {
      throw new IllegalStateException("a page cannot be decoded", e);
    }
  }
}
