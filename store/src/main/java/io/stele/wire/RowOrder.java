package io.stele.wire;

import io.stele.model.Bytes;
import io.stele.model.Outstanding;
import io.stele.model.SteleException;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;

/**
 * Keeps the mutations of one row in one batch in order: after a mutation that its client will send
 * again, no other mutation of that row is applied, because it would overtake the first.
 *
 * <p>A mutation that is refused permanently does not block those behind it: sent one by one, they
 * would be applied too. But it does in a batch of a task: its attempt sends nothing more once a
 * record has failed, and the next attempt may succeed with that record. Used by the one thread that
 * applies the batch.
 */
public final class RowOrder {
  private final boolean ofTask;
  private Set<Bytes> held = Set.of();

  /** The order of a batch of which nothing has failed yet, sent by a client that says this. */
  public RowOrder(Outstanding outstanding) {
    this.ofTask = outstanding.task().isPresent();
  }

  /** Why the next mutation of {@code row} must not be applied, if so. */
  public Optional<SteleException> check(Bytes row) {
    return held.contains(row)
        ? Optional.of(
            SteleException.retryLater(
                "a mutation of row \"" + row + "\" earlier in the batch was not applied"))
        : Optional.empty();
  }

  /** A mutation of {@code row} has failed at once. */
  public void failed(Bytes row, Throwable why) {
    boolean forGood =
        why instanceof SteleException known
            && switch (known.code()) {
              case NOT_FOUND, ALREADY_EXISTS, REFUSED, CORRUPTION -> true;
              case RETRY_LATER, OUTCOME_UNKNOWN -> false;
            };
    if (ofTask || !forGood) {
      if (held.isEmpty()) {
        held = new HashSet<>();
      }
      held.add(row);
    }
  }
}
