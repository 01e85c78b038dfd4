package io.stele.metadata;

import io.stele.model.Bytes;
import io.stele.model.Column;
import io.stele.model.Mutation;
import io.stele.model.Row;
import io.stele.model.RowRange;
import java.io.IOException;
import java.util.List;
import java.util.Optional;

/**
 * The place where tablet records are stored as rows: the lock service for the root tablet's, a
 * table for all others.
 *
 * <p>Safe for use by any number of threads.
 */
interface RecordRows {
  /**
   * What a column must hold for an update to be applied.
   *
   * @param value exactly these bytes; empty: the column has no value
   */
  record Condition(Column column, Optional<Bytes> value) {}

  /** The first rows of {@code range}, at most {@code limit}; fewer only if there are no more. */
  List<Row> scan(RowRange range, int limit) throws IOException;

  /**
   * Applies {@code mutation} if its row meets {@code condition}.
   *
   * @return whether it did
   * @throws io.stele.model.SteleException OUTCOME_UNKNOWN if the outcome is unknown
   * @throws IOException if nothing was changed
   */
  boolean update(Condition condition, Mutation mutation) throws IOException;
}
