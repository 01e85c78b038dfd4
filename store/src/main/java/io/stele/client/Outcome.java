package io.stele.client;

import io.stele.model.RowOperation;
import io.stele.model.SteleException;
import io.stele.runtime.Futures;
import java.util.Optional;

/**
 * The outcome of one operation of a batch.
 *
 * @param operation the operation
 * @param failure why it was not applied; empty if it was. With the code {@link
 *     SteleException.Code#OUTCOME_UNKNOWN}, and only then, it may have been
 */
public record Outcome(RowOperation operation, Optional<SteleException> failure) {
  /** An operation that was applied. */
  static Outcome applied(RowOperation operation) {
    return new Outcome(operation, Optional.empty());
  }

  /** An operation that was not applied, or whose outcome is unknown. */
  static Outcome failed(RowOperation operation, Throwable failure) {
    Throwable cause = Futures.cause(failure);
    return new Outcome(
        operation,
        Optional.of(
            cause instanceof SteleException known
                ? known
                : SteleException.outcomeUnknown(cause.toString(), cause)));
  }

  /** Whether the operation may have been applied, or not. */
  boolean isUnknown() {
    return failure.isPresent() && failure.get().code() == SteleException.Code.OUTCOME_UNKNOWN;
  }

  /** Whether the operation was certainly applied. */
  public boolean isApplied() {
    return failure.isEmpty();
  }
}
