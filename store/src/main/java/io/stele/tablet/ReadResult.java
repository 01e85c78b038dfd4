package io.stele.tablet;

import io.stele.model.Bytes;
import io.stele.model.Row;
import java.util.List;
import java.util.Optional;

/**
 * One page of a read: rows, each as it was at the read point.
 *
 * @param rows what was found, in order; may be empty although there is more. They are whole, except
 *     for the first row if the read began inside it, and the last row if the page ends inside it
 * @param readPoint the read point of the page; if it is not the requested one, the page begins at
 *     the beginning of its first row
 * @param nextRow where to go on, in this tablet; empty: there is no more in this tablet
 * @param position where inside {@code nextRow} to go on; empty: at its beginning
 */
public record ReadResult(
    List<Row> rows, long readPoint, Optional<Bytes> nextRow, Optional<Bytes> position) {
  public ReadResult {
    rows = List.copyOf(rows);
  }
}
