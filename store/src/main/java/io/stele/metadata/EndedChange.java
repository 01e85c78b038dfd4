package io.stele.metadata;

import io.stele.model.SteleException;
import io.stele.model.TableId;
import java.util.Optional;

/**
 * The outcome of a change of schema.
 *
 * @param id the client's
 * @param sequence its number among the changes under its table's name
 * @param table which table; empty if there was none
 * @param failure why it was not made; empty if it was
 */
public record EndedChange(
    String id, long sequence, Optional<TableId> table, Optional<Failure> failure) {
  /** Why a change was not made. */
  public record Failure(SteleException.Code code, String message) {}
}
