package io.stele.tablet;

import io.stele.model.Durability;
import io.stele.model.OperationId;
import io.stele.model.Outstanding;
import io.stele.model.RowOperation;
import io.stele.runtime.MemoryClaim;
import java.util.Optional;

/**
 * A row operation as a client asked for it.
 *
 * @param operation what to do
 * @param id identifies a retry; none: a retry may be applied again
 * @param outstanding what that client may still send again; not above the id's own number
 * @param log what it needs of the commit log
 * @param memory asked for the memory of its evaluation
 * @param memtable asked for the memory of its cells beyond {@link io.stele.model.OperationSize}
 */
public record OperationRequest(
    RowOperation operation,
    Optional<OperationId> id,
    Outstanding outstanding,
    LogNeed log,
    MemoryClaim memory,
    MemoryClaim memtable) {
  /** A request whose cells may take any amount of memory. */
  public OperationRequest(
      RowOperation operation,
      Optional<OperationId> id,
      Outstanding outstanding,
      Durability durability,
      MemoryClaim memory) {
    this(operation, id, outstanding, LogNeed.of(durability), memory, MemoryClaim.NONE);
  }

  /** This request, which asks {@code room} for the memory of its cells. */
  public OperationRequest within(MemoryClaim room) {
    return new OperationRequest(operation, id, outstanding, log, memory, room);
  }

  /**
   * The same as one of a batch: its caller tells the log when all of them were applied ({@link
   * io.stele.log.CommitLog#flushSoon}).
   */
  public OperationRequest ofBatch() {
    LogNeed need = new LogNeed(log.durability(), true);
    return new OperationRequest(operation, id, outstanding, need, memory, memtable);
  }

  /** A request whose operation may take any amount of memory. */
  public OperationRequest(
      RowOperation operation,
      Optional<OperationId> id,
      Outstanding outstanding,
      Durability durability) {
    this(operation, id, outstanding, durability, MemoryClaim.NONE);
  }

  /** An operation that is not remembered. */
  public static OperationRequest of(RowOperation operation) {
    return new OperationRequest(
        operation, Optional.empty(), Outstanding.from(0), Durability.HFLUSH);
  }

  /** An operation of which a retry is applied once. */
  public static OperationRequest of(RowOperation operation, OperationId id, long firstIncomplete) {
    return new OperationRequest(
        operation, Optional.of(id), Outstanding.from(firstIncomplete), Durability.HFLUSH);
  }
}
