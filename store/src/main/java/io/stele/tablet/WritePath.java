package io.stele.tablet;

import io.stele.log.LogRecord;
import io.stele.log.LoggedOperation;
import io.stele.memtable.MemoryAccount;
import io.stele.memtable.Memtable;
import io.stele.model.Bytes;
import io.stele.model.CorruptionException;
import io.stele.model.Durability;
import io.stele.model.Edit;
import io.stele.model.Mutation;
import io.stele.model.RowRange;
import io.stele.model.SteleException;
import io.stele.model.TabletId;
import io.stele.runtime.ProcessRuntime;
import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.locks.Lock;
import java.util.function.Supplier;

/**
 * How an operation is applied, in stages:
 *
 * <ol>
 *   <li><em>admit</em>: refuse what is not for this tablet, or not now;
 *   <li><em>recognise</em>: under the row's lock, join or repeat the outcome of a retry;
 *   <li><em>evaluate</em>: refuse what the schema or a limit does not allow, and work out the
 *       changes over what is queued before them;
 *   <li><em>queue</em>: under the sequence lock, take the next sequence number, put the cells into
 *       the memtable, where no reader sees them yet, and the record into the log's queue;
 *   <li><em>publish</em>: when the log has it, and all before it, the read point moves over it, and
 *       the caller is told.
 * </ol>
 *
 * <p>No thread waits between the fourth and the fifth. Where a step between taking the number and
 * queueing the record fails, the tablet stops: memory might differ from the log.
 *
 * <p>Safe for use by any number of threads.
 */
final class WritePath {
  private final TabletId id;
  private final RowRange extent;
  private final TabletLog log;
  private final MemoryAccount account;
  private final Snapshots snapshots;
  private final DurableOrder order;
  private final OperationWindow window;
  private final Evaluation evaluation;
  private final Supplier<SchemaRules> rules;
  private final TabletClock clock;
  private final Health health;
  private final Counters counters;
  private final long valueBytesMax;
  private final RowLocks rows;

  private final Lock sequencing;
  // Guarded by sequencing; read without it where an old value does no harm.
  private volatile long lastSequence;
  private volatile boolean paused;

  WritePath(
      ProcessRuntime runtime,
      TabletId id,
      RowRange extent,
      TabletLog log,
      MemoryAccount account,
      Snapshots snapshots,
      DurableOrder order,
      OperationWindow window,
      Evaluation evaluation,
      Supplier<SchemaRules> rules,
      TabletClock clock,
      Health health,
      Counters counters,
      long valueBytesMax,
      long lastSequence) {
    this.rows = new RowLocks(runtime);
    this.sequencing = runtime.newLock();
    this.id = id;
    this.extent = extent;
    this.log = log;
    this.account = account;
    this.snapshots = snapshots;
    this.order = order;
    this.window = window;
    this.evaluation = evaluation;
    this.rules = rules;
    this.clock = clock;
    this.health = health;
    this.counters = counters;
    this.valueBytesMax = valueBytesMax;
    this.lastSequence = lastSequence;
  }

  /** Applies an operation; never throws. */
  CompletableFuture<OperationResult> apply(OperationRequest request) {
    CompletableFuture<OperationResult> future = new CompletableFuture<>();
    try {
      admit(request);
      Runnable afterwards;
      Lock row = rows.of(request.operation().row());
      row.lock();
      try {
        Optional<OperationWindow.Begun> begun = recognise(request, future);
        if (begun.isPresent() && begun.get().known().isPresent()) {
          return begun.get().known().get();
        }
        afterwards = evaluateAndQueue(request, begun.map(OperationWindow.Begun::operation), future);
      } finally {
        row.unlock();
      }
      afterwards.run();
    } catch (CorruptionException e) {
      refuse(future, new SteleException(SteleException.Code.CORRUPTION, e.getMessage(), e));
    } catch (IOException e) {
      refuse(
          future,
          new SteleException(
              SteleException.Code.RETRY_LATER,
              "reading row \""
                  + request.operation().row()
                  + "\" to change it failed, nothing was changed: "
                  + e.getMessage(),
              e));
    } catch (RuntimeException e) {
      refuse(future, e);
    }
    return future;
  }

  /** The highest sequence number taken. */
  long lastSequence() {
    return lastSequence;
  }

  /** Refuses operations from now on; completes when those accepted are durable. */
  CompletableFuture<Void> pause() {
    sequencing.lock();
    try {
      paused = true;
    } finally {
      sequencing.unlock();
    }
    return order.barrier();
  }

  void resume() {
    paused = false;
  }

  /**
   * Freezes the memtable at the last sequence number taken.
   *
   * @return whether there was anything in it that the files do not have
   */
  boolean freeze() {
    sequencing.lock();
    try {
      Snapshot now = snapshots.peek();
      long covered = now.frozen().isEmpty() ? now.redoPoint() : now.frozen().get(0).boundary();
      if (lastSequence == covered) {
        return false;
      }
      now.active().freeze();
      CompletableFuture<Void> durable = order.barrier();
      Memtable empty = new Memtable(account);
      try {
        snapshots.swap(snapshot -> snapshot.freeze(empty, lastSequence, durable));
      } finally {
        empty.release(); // Now the snapshot holds it.
      }
      return true;
    } finally {
      sequencing.unlock();
    }
  }

  private void admit(OperationRequest request) {
    health.check();
    checkNotPaused();
    Bytes row = request.operation().row();
    if (!extent.contains(row)) {
      throw new RowOutOfRangeException(id, extent, row);
    }
    if (!log.hasRoom()) {
      throw SteleException.retryLater("too much waits for the commit log: try again");
    }
  }

  private Optional<OperationWindow.Begun> recognise(
      OperationRequest request, CompletableFuture<OperationResult> future) {
    return request
        .id()
        .map(
            operation ->
                window.begin(
                    operation,
                    request.firstIncomplete(),
                    OperationDigest.of(request.operation()),
                    clock.now(),
                    future));
  }

  /**
   * Evaluates and queues.
   *
   * @return what is left to do without locks, as it may call back whoever waits for any operation
   */
  private Runnable evaluateAndQueue(
      OperationRequest request,
      Optional<OperationWindow.Operation> operation,
      CompletableFuture<OperationResult> future)
      throws IOException {
    boolean queued = false;
    try {
      // After a retry was recognised: what was applied is not refused for a newer schema.
      rules.get().operations().check(request.operation(), valueBytesMax);
      Evaluation.Evaluated evaluated = evaluation.evaluate(request.operation());
      if (evaluated.mutation().edits().isEmpty() && operation.isEmpty()) {
        return () -> tellWhenDurable(evaluated.result(), future);
      }
      Runnable afterwards = queue(request, operation, evaluated, future);
      queued = true;
      return afterwards;
    } catch (SteleException e) {
      return () -> refuseWhenDurable(e, future);
    } finally {
      if (!queued) {
        operation.ifPresent(window::abandon);
      }
    }
  }

  private Runnable queue(
      OperationRequest request,
      Optional<OperationWindow.Operation> operation,
      Evaluation.Evaluated evaluated,
      CompletableFuture<OperationResult> future)
      throws IOException {
    Bytes result =
        operation.isPresent() ? OperationResults.encode(evaluated.result()) : Bytes.EMPTY;
    Optional<LoggedOperation> logged = operation.map(one -> one.logged(result));
    sequencing.lock();
    try {
      health.check();
      checkNotPaused();
      long sequence = lastSequence + 1;
      LoggedCells cells = cells(sequence, evaluated.mutation());
      LogRecord record = new LogRecord(id, sequence, clock.highest(), logged, cells.bytes());
      try {
        operation.ifPresent(one -> window.queued(one, sequence, result));
        DurableOrder.Entry entry =
            order.add(sequence, () -> publish(operation, evaluated.result(), future), future);
        cells.addTo(snapshots.peek().active());
        lastSequence = sequence;
        CompletableFuture<Void> durable = log.append(record, durability(request));
        return () -> durable.whenComplete((done, failure) -> logged(entry, failure, future));
      } catch (IOException | RuntimeException | Error e) {
        health.stop(e); // At once: nobody may queue anything behind this.
        return () -> stop(e);
      }
    } finally {
      sequencing.unlock();
    }
  }

  private Durability durability(OperationRequest request) {
    return rules.get().schema().hsync() ? Durability.HSYNC : request.durability();
  }

  private LoggedCells cells(long sequence, Mutation mutation) {
    long timestamp = leavesTimestampOpen(mutation) ? clock.assign() : Edit.SERVER_TIMESTAMP;
    return LoggedCells.encode(mutation, sequence, timestamp);
  }

  private static boolean leavesTimestampOpen(Mutation mutation) {
    for (Edit edit : mutation.edits()) {
      if (edit instanceof Edit.Put put && put.timestampMicros() == Edit.SERVER_TIMESTAMP) {
        return true;
      }
    }
    return false;
  }

  private void publish(
      Optional<OperationWindow.Operation> operation,
      OperationResult result,
      CompletableFuture<OperationResult> future) {
    operation.ifPresent(window::done);
    counters.operations.increment();
    future.complete(result);
  }

  private void tellWhenDurable(OperationResult result, CompletableFuture<OperationResult> future) {
    order
        .barrier()
        .whenComplete(
            (done, failure) -> {
              if (failure == null) {
                counters.operations.increment();
                future.complete(result);
              } else {
                future.completeExceptionally(failure);
              }
            });
  }

  // What it was refused for may be queued only: it is told when it cannot be undone any more.
  private void refuseWhenDurable(SteleException why, CompletableFuture<OperationResult> future) {
    order.barrier().whenComplete((done, failure) -> refuse(future, why));
  }

  private void refuse(CompletableFuture<OperationResult> future, RuntimeException why) {
    counters.refused.increment();
    future.completeExceptionally(why);
  }

  private void logged(
      DurableOrder.Entry entry, Throwable failure, CompletableFuture<OperationResult> future) {
    if (failure == null) {
      order.durable(entry);
      return;
    }
    Throwable cause =
        failure instanceof CompletionException && failure.getCause() != null
            ? failure.getCause()
            : failure;
    // The one failure after which it is known: the log had ended before.
    if (cause instanceof SteleException known && known.code() == SteleException.Code.RETRY_LATER) {
      future.completeExceptionally(known);
    }
    stop(cause);
  }

  private void stop(Throwable why) {
    health.stop(why);
    order.fail(
        SteleException.outcomeUnknown(
            "the commit log of tablet "
                + id
                + " failed with this operation in it: it may have been applied or not",
            why));
  }

  private void checkNotPaused() {
    if (paused) {
      throw SteleException.retryLater("tablet " + id + " takes no writes at the moment: try again");
    }
  }
}
