package io.stele.client;

import io.stele.metadata.Operations;
import io.stele.model.OperationId;
import io.stele.model.RowOperation;
import io.stele.runtime.Deadline;
import java.util.Objects;

/**
 * An operation that has its id and its deadline, and was not sent yet. It has both from the
 * beginning of its call, even if the schema must be read before it may be sent: the time of an
 * operation must not be over before that of one with a lower id (see {@link Batcher#operations}).
 *
 * @param id its id; to be ended in {@link Operations} when it will not be sent, or not again
 */
record BegunOperation(RowOperation operation, OperationId id, Deadline deadline) {
  /** Begins an operation; its id is of {@code operations}. */
  static BegunOperation of(RowOperation operation, Operations operations, Deadline deadline) {
    Objects.requireNonNull(operation, "operation"); // Nobody would end its id.
    return new BegunOperation(operation, operations.begin(operation), deadline);
  }
}
