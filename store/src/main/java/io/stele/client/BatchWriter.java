package io.stele.client;

import io.stele.model.Mutation;
import io.stele.model.OperationId;
import java.io.Closeable;
import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * Writes many mutations: collects them, sends those for one tablet server together, and makes the
 * caller wait while too much is under way.
 *
 * <p>Mutations of the same row are applied in the order in which they were added; those of
 * different rows in any order. What was added is sent soon, without a {@link #flush}, and is
 * durable when its future, or a flush after it, has completed.
 *
 * <p>Safe for use by any number of threads.
 */
public final class BatchWriter implements Closeable {
  BatchWriter() {}

  /**
   * How to write.
   *
   * @param bufferBytes how much may be on its way before {@link #add} waits, in bytes
   * @param firstOperation the operation id of the first mutation added; the next ones count on from
   *     it. For those who may have to write the same again, in the same order, in another process:
   *     a mutation that was applied then is not applied again. The tablets remember these ids for
   *     {@code stele.operations.window}. Empty: the connection's own ids, for retries within it
   */
  public record Options(long bufferBytes, Optional<OperationId> firstOperation) {
    /** With another size of the buffer. */
    public Options withBufferBytes(long bytes) {
      return new Options(bytes, firstOperation);
    }

    /** With operation ids from {@code first} on. */
    public Options withFirstOperation(OperationId first) {
      return new Options(bufferBytes, Optional.of(first));
    }
  }

  /**
   * Adds a mutation, waiting while the buffer is full.
   *
   * @return completes when the mutation has been applied, or fails with the reason why not. Whoever
   *     does not look at it learns of the failure from {@link #flush} or {@link #close}
   * @throws io.stele.model.SteleException REFUSED or NOT_FOUND where it is wrong from the outset:
   *     it is then not added
   * @throws IOException where the thread was interrupted while it waited: the mutation is not added
   */
  public CompletableFuture<Void> add(Mutation mutation) throws IOException {
    throw new UnsupportedOperationException();
  }

  /**
   * Waits until everything added so far has been applied or has failed.
   *
   * @throws MutationsFailedException where something has failed since the last flush
   * @throws IOException where the thread was interrupted
   */
  public void flush() throws IOException {
    throw new UnsupportedOperationException();
  }

  /**
   * Like {@link #flush}, and takes no more mutations.
   *
   * @throws MutationsFailedException where something has failed since the last flush
   * @throws IOException where the thread was interrupted
   */
  @Override
  public void close() throws IOException {
    throw new UnsupportedOperationException();
  }
}
