package io.stele.client;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.stele.model.Durability;
import io.stele.model.OperationId;
import io.stele.model.RowOperation;
import io.stele.model.SteleException;
import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;

/**
 * Writes many mutations: collects them, sends those for one tablet server together, and makes the
 * caller wait while too much is under way.
 *
 * <pre>{@code
 * try (BatchWriter writer = table.batchWriter()) {
 *   for (Page page : pages) {
 *     writer.add(Mutation.of(page.row()).put("contents", "", page.html()));
 *   }
 * } // Here everything is applied, or a MutationsFailedException says what is not.
 * }</pre>
 *
 * <p>Mutations of the same row are applied in the order in which they were added; those of
 * different rows in any order. An added mutation is sent soon, also without a {@link #flush}. It is
 * durable when its future, or a later flush, has completed.
 *
 * <p>Safe for use by any number of threads.
 */
public final class BatchWriter implements Closeable {
  /** For how many failed mutations the outcomes are kept until the next flush. */
  private static final int FAILURES_KEPT = 1000;

  /**
   * How many operations may be added after the oldest that is incomplete: a task keeps a digest of
   * each. At 50,000 operations a second this is reached in ten seconds.
   */
  private static final int AHEAD_MAX = 1 << 19;

  private final TableRef table;
  private final SchemaCheck check;
  private final Batcher.Writer writer;
  private final long bufferBytes;
  private final long aheadMax;
  private final Durability durability;

  @GuardedBy("this")
  private final List<Outcome> failed = new ArrayList<>();

  @GuardedBy("this")
  private final TreeSet<Long> incomplete = new TreeSet<>();

  @GuardedBy("this")
  private long failures;

  @GuardedBy("this")
  private long added;

  @GuardedBy("this")
  private long bytesUnderWay;

  @GuardedBy("this")
  private boolean closed;

  @GuardedBy("this")
  private Optional<CompletableFuture<Void>> change = Optional.empty();

  /**
   * How to write.
   *
   * @param bufferBytes how many bytes may be under way before {@link #add} waits
   * @param firstOperation the operation id of the first mutation added; the next ones count on from
   *     it. For writers that may have to write the same mutations again, in the same order, in
   *     another process: a mutation that was applied before is not applied again, and a different
   *     mutation with the same id is refused. Empty: the connection's own ids, for retries within
   *     it
   * @param job the tablets remember the ids of {@code firstOperation} until this job is over.
   *     Empty: for {@code stele.operations.window}
   */
  public record Options(
      long bufferBytes, Optional<OperationId> firstOperation, Optional<String> job) {
    public Options {
      if (bufferBytes < 1) {
        throw SteleException.refused(
            "the buffer of a BatchWriter needs at least 1 byte, not " + bufferBytes);
      }
    }

    /** With a buffer of this size and the connection's own operation ids. */
    public static Options ofBufferBytes(long bytes) {
      return new Options(bytes, Optional.empty(), Optional.empty());
    }

    /** With operation ids from {@code first} on. */
    public Options withFirstOperation(OperationId first) {
      return new Options(bufferBytes, Optional.of(first), job);
    }

    /** With operation ids that are remembered until a job is over. */
    public Options forJob(String name) {
      return new Options(bufferBytes, firstOperation, Optional.of(name));
    }
  }

  BatchWriter(SchemaCheck check, Batcher.Writer writer, long bufferBytes, Durability durability) {
    this(check, writer, bufferBytes, AHEAD_MAX, durability);
  }

  BatchWriter(
      SchemaCheck check,
      Batcher.Writer writer,
      long bufferBytes,
      long aheadMax,
      Durability durability) {
    this.aheadMax = aheadMax;
    this.table = writer.table();
    this.check = check;
    this.writer = writer;
    this.bufferBytes = bufferBytes;
    this.durability = durability;
  }

  /**
   * Adds an operation with the durability of the {@link Table} this writer comes from: see {@link
   * #add(RowOperation, Durability)}.
   */
  public CompletableFuture<Void> add(RowOperation operation) throws IOException {
    return add(operation, durability);
  }

  /**
   * Adds an operation, waiting while the buffer is full, or the oldest operation in it has been
   * overtaken by half a million others. The answer of a conditional or read-modify-write operation
   * is dropped: use the calls of {@link Table} to get it.
   *
   * @param least its durability when it counts as applied; never less than the table's schema asks
   *     for. Operations sent together with it keep their own durability
   * @return completes when the operation has been applied, or fails with the reason. {@link #flush}
   *     and {@link #close} also report the failure
   * @throws SteleException REFUSED or NOT_FOUND if the operation is invalid: it is then not added
   * @throws IOException if the thread was interrupted while it waited: the operation is not added
   * @throws IllegalStateException if the writer is closed
   */
  public CompletableFuture<Void> add(RowOperation operation, Durability least) throws IOException {
    CompletableFuture<Void> allowed = check.operation(operation);
    if (!allowed.isDone() || allowed.isCompletedExceptionally()) {
      table.await(allowed);
    }
    long bytes = SubmittedOperation.bytes(operation);
    long place = reserve(bytes);
    CompletableFuture<Void> applied = writer.submit(operation, least);
    applied.whenComplete((nothing, failure) -> complete(place, operation, bytes, failure));
    return applied; // Itself, so that it is complete before a flush returns.
  }

  /**
   * Waits until everything added so far has been applied or has failed.
   *
   * @throws MutationsFailedException if something has failed since the last flush
   * @throws IOException if the thread was interrupted
   */
  public void flush() throws IOException {
    long end;
    synchronized (this) {
      end = added;
    }
    for (var wait = incompleteBefore(end); wait.isPresent(); wait = incompleteBefore(end)) {
      table
          .waiting()
          .await(wait.get(), "waiting for mutations: whether they were applied is unknown");
    }
    synchronized (this) {
      if (failures > 0) {
        MutationsFailedException failure =
            new MutationsFailedException(table.name(), failed, failures);
        failed.clear();
        failures = 0;
        throw failure;
      }
    }
  }

  /**
   * Like {@link #flush}, and then accepts no more mutations.
   *
   * @throws MutationsFailedException if something has failed since the last flush
   * @throws SteleException REFUSED if another process has written more with the same ids
   * @throws IOException if the thread was interrupted
   */
  @Override
  public void close() throws IOException {
    synchronized (this) {
      closed = true;
    }
    changed();
    flush();
    writer.end().check();
    table.waiting().await(writer.end().tell(), "telling tablet servers that a task has ended");
  }

  /** Waits for room, then takes it; returns the place of the mutation among those added. */
  private long reserve(long bytes) throws IOException {
    while (true) {
      CompletableFuture<Void> room;
      synchronized (this) {
        if (closed) {
          throw new IllegalStateException(
              "the BatchWriter of table " + table.name() + " is closed");
        }
        boolean overtakenTooOften = !incomplete.isEmpty() && added - incomplete.first() >= aheadMax;
        if (!overtakenTooOften && (bytesUnderWay == 0 || bytesUnderWay + bytes <= bufferBytes)) {
          incomplete.add(added);
          bytesUnderWay += bytes;
          return added++;
        }
        room = nextChange();
      }
      table.waiting().await(room, "waiting for room in the buffer: the mutation was not added");
    }
  }

  /** Completes at the next change, where something added before {@code end} is incomplete. */
  private synchronized Optional<CompletableFuture<Void>> incompleteBefore(long end) {
    return incomplete.isEmpty() || incomplete.first() >= end
        ? Optional.empty()
        : Optional.of(nextChange());
  }

  private synchronized CompletableFuture<Void> nextChange() {
    if (change.isEmpty()) {
      change = Optional.of(new CompletableFuture<>());
    }
    return change.get();
  }

  private void changed() {
    Optional<CompletableFuture<Void>> waiting;
    synchronized (this) {
      waiting = change;
      change = Optional.empty();
    }
    waiting.ifPresent(future -> future.complete(null));
  }

  private void complete(long place, RowOperation operation, long bytes, Throwable failure) {
    synchronized (this) {
      incomplete.remove(place);
      bytesUnderWay -= bytes;
      if (failure != null) {
        failures++;
        if (failed.size() < FAILURES_KEPT) {
          failed.add(Outcome.failed(operation, failure));
        }
      }
    }
    changed();
  }
}
