package io.stele.metadata;

import io.stele.model.Bytes;
import io.stele.model.Column;
import io.stele.model.Mutation;
import io.stele.model.Row;
import io.stele.model.RowRange;
import java.io.IOException;
import java.util.Collection;
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

  /** One change, for {@link #updateAll}. */
  record Update(Condition condition, Mutation mutation) {}

  /** The first rows of {@code range}, at most {@code limit}; fewer only if there are no more. */
  List<Row> scan(RowRange range, int limit) throws IOException;

  /**
   * Applies {@code mutation} if its row meets {@code condition}.
   *
   * @return whether it did
   * @throws io.stele.model.SteleException OUTCOME_UNKNOWN if the outcome is unknown
   * @throws IOException if nothing was changed, or the thread was interrupted: the outcome is then
   *     unknown, too
   */
  boolean update(Condition condition, Mutation mutation) throws IOException;

  /**
   * Applies each of {@code updates} of which the row meets the condition, in any order. Use it for
   * updates that may be repeated.
   *
   * @throws io.stele.model.SteleException OUTCOME_UNKNOWN if the outcome of one is unknown
   * @throws IOException if one was not applied. Others may have been, or may be applied yet
   */
  default void updateAll(Collection<Update> updates) throws IOException {
    for (Update one : updates) {
      update(one.condition(), one.mutation());
    }
  }
}
