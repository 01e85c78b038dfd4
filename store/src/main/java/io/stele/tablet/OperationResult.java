package io.stele.tablet;

import io.stele.model.Row;
import io.stele.model.Settled;
import java.util.Optional;

/**
 * The result of a row operation.
 *
 * @param matched of a {@code CheckAndMutate}: whether the predicate held; true for other operations
 * @param row of a {@code ReadModifyWrite}: the new cells; empty for other operations, and of one
 *     that was applied before if its result was too large to be remembered
 * @param settled of a task's record that was applied before: it is one of these, and nothing else
 *     is known of it
 */
public record OperationResult(boolean matched, Optional<Row> row, Optional<Settled> settled) {
  /** The result of a mutation, and of a conditional one whose predicate held. */
  public static final OperationResult APPLIED = new OperationResult(true, Optional.empty());

  /** The result of an operation that is applied now, or of which more is known. */
  public OperationResult(boolean matched, Optional<Row> row) {
    this(matched, row, Optional.empty());
  }

  /** The result of a conditional mutation whose predicate did not hold. */
  public static final OperationResult NOT_MATCHED = new OperationResult(false, Optional.empty());
}
