package io.stele.client;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.stele.model.Durability;
import io.stele.model.OperationId;
import io.stele.model.RowOperation;
import io.stele.model.SteleException;
import io.stele.runtime.Watermark;
import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;

/**
 * Writes many mutations: collects them, sends those for one tablet server together, and makes the
 * caller wait while too much is in progress.
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
 * different rows in any order. An added mutation is sent soon, even without a {@link #flush}. It is
 * durable when its future, or a later flush, has completed.
 *
 * <p>A failure does not stop the writer: what was added later is applied, even to the same row.
 * Each failure is reported by the future of its mutation, and by one {@link #flush} or {@link
 * #close}, the first that any thread calls: threads that flush should have a writer each, which
 * costs little.
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

  /** Waiters continue when this part of the buffer is free, not after each mutation. */
  private static final int ROOM_PART = 8;

  private final TableRef table;
  private final SchemaCheck check;
  private final Batcher.Writer writer;
  private final long bufferBytes;
  private final long aheadMax;
  private final Durability durability;

  @GuardedBy("this")
  private final List<Outcome> failed = new ArrayList<>();

  /** Of the operations in {@code failed}, which are kept in memory: no more than a buffer. */
  @GuardedBy("this")
  private long failedBytes;

  @GuardedBy("this")
  private long failures;

  /** Whether the outcome of one of the failures is unknown. */
  @GuardedBy("this")
  private boolean unknown;

  @GuardedBy("this")
  private final Watermark underWay = new Watermark(0);

  @GuardedBy("this")
  private long bytesUnderWay;

  @GuardedBy("this")
  private boolean closed;

  /** What callers of {@link #add} wait for, if any do. */
  @GuardedBy("this")
  private Optional<CompletableFuture<Void>> room = Optional.empty();

  /** Each completes when all numbers below its key have ended. */
  @GuardedBy("this")
  private final TreeMap<Long, CompletableFuture<Void>> flushes = new TreeMap<>();

  /**
   * How to write.
   *
   * @param bufferBytes how many bytes may be in progress before {@link #add} waits
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
    writer.keep();
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
   *     and {@link #close} also report the failure. Cancelling it does not end the operation
   * @throws SteleException REFUSED or NOT_FOUND if the operation is invalid: it is then not added
   * @throws IOException if the thread was interrupted while it waited: the operation is not added
   * @throws IllegalStateException if the writer is closed
   */
  public CompletableFuture<Void> add(RowOperation operation, Durability least) throws IOException {
    CompletableFuture<Void> allowed = check.operation(operation, table.deadline());
    if (!allowed.isDone() || allowed.isCompletedExceptionally()) {
      table.awaitRead(allowed);
    }
    long bytes = SubmittedOperation.bytes(operation);
    long place = reserve(bytes);
    CompletableFuture<Void> applied;
    try {
      applied = writer.submit(operation, least);
    } catch (RuntimeException | Error e) {
      complete(place, operation, bytes, e); // Or a flush would wait for it for ever.
      throw e;
    }
    // Another future, as its holder may cancel it; and it is complete before a flush returns.
    CompletableFuture<Void> told = new CompletableFuture<>();
    applied.whenComplete(
        (nothing, failure) -> {
          if (failure == null) {
            told.complete(null);
          } else {
            told.completeExceptionally(failure);
          }
          complete(place, operation, bytes, failure);
        });
    return told;
  }

  /**
   * Waits until everything added so far has been applied or has failed.
   *
   * @throws MutationsFailedException if something has failed since the last flush
   * @throws IOException if the thread was interrupted
   */
  public void flush() throws IOException {
    Optional<CompletableFuture<Void>> ended = ended();
    if (ended.isPresent()) {
      table
          .waiting()
          .await(ended.get(), "waiting for mutations: whether they were applied is unknown");
    }
    synchronized (this) {
      if (failures > 0) {
        MutationsFailedException failure =
            new MutationsFailedException(table.name(), failed, failures, unknown);
        failed.clear();
        failedBytes = 0;
        failures = 0;
        unknown = false;
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
    Optional<CompletableFuture<Void>> waiting;
    boolean first;
    synchronized (this) {
      first = !closed;
      closed = true;
      waiting = room;
      room = Optional.empty();
    }
    waiting.ifPresent(future -> future.complete(null));
    try {
      flush();
      writer.end().check();
      table.waiting().await(writer.end().tell(), "telling tablet servers that a task has ended");
    } finally {
      if (first) {
        writer.release();
      }
    }
  }

  /** Waits for room, then takes it; returns the number of the mutation. */
  private long reserve(long bytes) throws IOException {
    while (true) {
      CompletableFuture<Void> wait;
      synchronized (this) {
        if (closed) {
          throw new IllegalStateException(
              "the BatchWriter of table " + table.name() + " is closed");
        }
        if (underWay.isEmpty() || (bytesUnderWay + bytes <= bufferBytes && ahead() < aheadMax)) {
          bytesUnderWay += bytes;
          return underWay.begin();
        }
        if (room.isEmpty()) {
          room = Optional.of(new CompletableFuture<>());
        }
        wait = room.get();
      }
      table.waiting().await(wait, "waiting for room in the buffer: the mutation was not added");
    }
  }

  /** How many were added since the oldest that is in progress, which counts too. */
  @GuardedBy("this")
  private long ahead() {
    return underWay.next() - underWay.lowest();
  }

  @GuardedBy("this")
  private boolean hasRoom() {
    return underWay.isEmpty()
        || (bytesUnderWay <= bufferBytes - bufferBytes / ROOM_PART
            && ahead() <= aheadMax - aheadMax / ROOM_PART);
  }

  /** Completes when all that was added so far has ended; empty: it has. */
  private synchronized Optional<CompletableFuture<Void>> ended() {
    return underWay.isEmpty()
        ? Optional.empty()
        : Optional.of(flushes.computeIfAbsent(underWay.next(), end -> new CompletableFuture<>()));
  }

  private void complete(long number, RowOperation operation, long bytes, Throwable failure) {
    List<CompletableFuture<Void>> waiting;
    synchronized (this) {
      underWay.end(number);
      bytesUnderWay -= bytes;
      if (failure != null) {
        Outcome outcome = Outcome.failed(operation, failure);
        failures++;
        unknown |= outcome.isUnknown();
        boolean fits = failed.isEmpty() || failedBytes + bytes <= bufferBytes;
        if (failed.size() < FAILURES_KEPT && fits) {
          failed.add(outcome);
          failedBytes += bytes;
        }
      }
      waiting = takeWaiting();
    }
    waiting.forEach(future -> future.complete(null));
  }

  /** Takes out the futures of those who need wait no longer. */
  @GuardedBy("this")
  private List<CompletableFuture<Void>> takeWaiting() {
    if (room.isEmpty() && flushes.isEmpty()) {
      return List.of();
    }
    List<CompletableFuture<Void>> waiting = new ArrayList<>();
    if (hasRoom()) {
      room.ifPresent(waiting::add);
      room = Optional.empty();
    }
    while (!flushes.isEmpty() && flushes.firstKey() <= underWay.lowest()) {
      waiting.add(flushes.pollFirstEntry().getValue());
    }
    return waiting;
  }
}
