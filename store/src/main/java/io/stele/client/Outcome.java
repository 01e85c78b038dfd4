package io.stele.client;

import io.stele.model.Mutation;
import io.stele.model.SteleException;
import io.stele.runtime.Futures;
import java.util.Optional;

/**
 * The outcome of one mutation of a batch.
 *
 * @param mutation the mutation
 * @param failure why it was not applied; empty if it was. Only the code {@link
 *     SteleException.Code#OUTCOME_UNKNOWN} leaves open whether it was
 */
public record Outcome(Mutation mutation, Optional<SteleException> failure) {
  /** A mutation that was applied. */
  static Outcome applied(Mutation mutation) {
    return new Outcome(mutation, Optional.empty());
  }

  /** A mutation that was not applied, or of which that is unknown. */
  static Outcome failed(Mutation mutation, Throwable failure) {
    Throwable cause = Futures.cause(failure);
    return new Outcome(
        mutation,
        Optional.of(
            cause instanceof SteleException known
                ? known
                : SteleException.outcomeUnknown(cause.toString(), cause)));
  }

  /** Whether the mutation was certainly applied. */
  public boolean isApplied() {
    return failure.isEmpty();
  }
}
