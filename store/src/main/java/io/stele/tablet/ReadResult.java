package io.stele.tablet;

import io.stele.model.Bytes;
import io.stele.model.Row;
import java.util.List;
import java.util.Optional;

/**
 * One page of a read: whole rows, each as it was at the read point.
 *
 * @param rows what was found, in order; may be empty although there is more
 * @param readPoint as of when
 * @param nextRow where to go on, in this tablet; empty: there is no more in this tablet
 */
public record ReadResult(List<Row> rows, long readPoint, Optional<Bytes> nextRow) {
  public ReadResult {
    rows = List.copyOf(rows);
  }
}
