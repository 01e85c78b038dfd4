package io.stele.tablet;

import io.stele.format.OperationDigest;
import io.stele.model.Bytes;
import io.stele.model.CorruptionException;
import io.stele.model.Durability;
import io.stele.model.RowOperation;
import io.stele.model.RowRange;
import io.stele.model.SteleException;
import io.stele.runtime.Futures;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;

/**
 * How an operation is applied, in stages:
 *
 * <ol>
 *   <li><em>admit</em>: refuse operations on rows of other tablets, and every operation while the
 *       tablet has stopped, its writes are paused or the log takes no more;
 *   <li><em>recognize</em>: under the row's lock, join or repeat the outcome of a retry;
 *   <li><em>evaluate</em>: refuse what the schema or a limit forbids, and work out the changes,
 *       seeing the operations that are queued before;
 *   <li><em>sequence</em>: {@link Sequencer#add} puts the changes in order and queues them for the
 *       log;
 *   <li><em>publish</em>: when the changes and all before them are in the log, the read point moves
 *       past them, and the caller gets its answer.
 * </ol>
 *
 * <p>No thread waits between the fourth and the fifth. Safe for use by any number of threads.
 */
final class WritePath {
  /**
   * How long an operation waits for another on its row, which may be reading from a DataNode that
   * hangs. Operations of all tablets share the threads that wait.
   */
  private static final Duration ROW_WAIT_MAX = Duration.ofMillis(250);

  /** How long an operation of a batch waits, of which many may wait one after another. */
  private static final Duration ROW_WAIT_MAX_IN_BATCH = Duration.ofMillis(20);

  private final TabletCore core;
  private final Sequencer sequencer;
  private final Evaluation evaluation;
  private final RowLocks rows;

  WritePath(TabletCore core, Sequencer sequencer, Evaluation evaluation) {
    this.core = core;
    this.sequencer = sequencer;
    this.evaluation = evaluation;
    this.rows = new RowLocks(core.environment().runtime());
  }

  /** Applies an operation; never throws. */
  CompletableFuture<OperationResult> apply(OperationRequest request) {
    CompletableFuture<OperationResult> outcome = new CompletableFuture<>();
    try {
      admit(request);
      Runnable afterwards;
      Lock row = rows.of(request.operation().row());
      lockRow(row, request);
      try {
        Optional<OperationWindow.Begun> begun = recognize(request, outcome);
        if (begun.isPresent() && begun.get().known().isPresent()) {
          return begun.get().known().get();
        }
        afterwards =
            evaluateAndSequence(request, begun.map(OperationWindow.Begun::operation), outcome);
      } finally {
        row.unlock();
      }
      afterwards.run();
    } catch (CorruptionException e) {
      fail(outcome, new SteleException(SteleException.Code.CORRUPTION, e.getMessage(), e));
    } catch (IOException e) {
      fail(
          outcome,
          new SteleException(
              SteleException.Code.RETRY_LATER,
              "reading row \""
                  + request.operation().row()
                  + "\" before changing it failed; nothing was changed: "
                  + e.getMessage(),
              e));
    } catch (RuntimeException | Error e) {
      fail(outcome, e);
    }
    return outcome;
  }

  private void admit(OperationRequest request) {
    core.health().check();
    sequencer.checkNotPaused();
    Bytes row = request.operation().row();
    RowRange extent = core.spec().extent();
    if (!extent.contains(row)) {
      throw new RowOutOfRangeException(core.spec().id(), extent, row);
    }
    Optional<String> refusal = core.environment().log().refusal();
    if (refusal.isPresent()) {
      throw SteleException.retryLater(refusal.get() + ": try again");
    }
  }

  private static void lockRow(Lock row, OperationRequest request) {
    Duration wait = request.log().moreFollow() ? ROW_WAIT_MAX_IN_BATCH : ROW_WAIT_MAX;
    try {
      if (row.tryLock() || row.tryLock(wait.toNanos(), TimeUnit.NANOSECONDS)) {
        return;
      }
    } catch (InterruptedException e) {
      Futures.interruptAgain();
    }
    throw SteleException.retryLater(
        "an operation on row \""
            + request.operation().row()
            + "\", or on one that shares its lock, waits for the file system: try again");
  }

  private Optional<OperationWindow.Begun> recognize(
      OperationRequest request, CompletableFuture<OperationResult> outcome) {
    return request
        .id()
        .map(
            operation ->
                core.window()
                    .begin(
                        operation,
                        request.outstanding(),
                        OperationDigest.of(request.operation()),
                        outcome));
  }

  /**
   * Evaluates an operation and sequences its changes.
   *
   * @return work to be done after all locks are released: it may run the callbacks of any operation
   */
  private Runnable evaluateAndSequence(
      OperationRequest request,
      Optional<ClientOperations.Operation> operation,
      CompletableFuture<OperationResult> outcome)
      throws IOException {
    boolean sequenced = false;
    try {
      Sequencer.Basis basis = sequencer.basis();
      Evaluation.Evaluated evaluated = evaluate(request, basis.rules());
      if (evaluated.mutation().edits().isEmpty() && operation.isEmpty()) {
        return () -> tellWhenDurable(evaluated.result(), outcome);
      }
      Runnable afterwards = sequencer.add(change(request, operation, evaluated, outcome), basis);
      sequenced = true;
      return afterwards;
    } catch (SteleException e) {
      return mayDependOnQueued(request.operation(), e)
          ? () -> refuseWhenDurable(e, outcome)
          : () -> fail(outcome, e);
    } finally {
      if (!sequenced) {
        operation.ifPresent(core.window()::abandon);
      }
    }
  }

  /**
   * Whether an operation may be refused because of one that is only queued. If not, its caller must
   * know at once: it applies the row's next operation, or holds it back.
   */
  private static boolean mayDependOnQueued(RowOperation operation, SteleException why) {
    return operation.kind() != RowOperation.Kind.MUTATION
        && why.code() != SteleException.Code.RETRY_LATER;
  }

  // Retries are recognized first, so an applied operation is not refused because of a newer schema.
  private Evaluation.Evaluated evaluate(OperationRequest request, SchemaRules rules)
      throws IOException {
    rules.operations().check(request.operation(), core.options().valueBytesMax());
    return evaluation.evaluate(request);
  }

  private Sequencer.Change change(
      OperationRequest request,
      Optional<ClientOperations.Operation> operation,
      Evaluation.Evaluated evaluated,
      CompletableFuture<OperationResult> outcome) {
    boolean hsync = core.rules().schema().hsync();
    OperationResult result = evaluated.result(); // Does not keep the mutation in memory until then.
    return new Sequencer.Change(
        evaluated.mutation(),
        operation,
        operation.isPresent() ? OperationResults.encode(result) : Bytes.EMPTY,
        hsync ? request.log().and(Durability.HSYNC) : request.log(),
        () -> publish(operation, result, outcome),
        outcome);
  }

  private void publish(
      Optional<ClientOperations.Operation> operation,
      OperationResult result,
      CompletableFuture<OperationResult> outcome) {
    operation.ifPresent(core.window()::done);
    outcome.complete(result);
  }

  private void tellWhenDurable(OperationResult result, CompletableFuture<OperationResult> outcome) {
    core.commits()
        .barrier()
        .whenComplete(
            (done, failure) -> {
              if (failure == null) {
                outcome.complete(result);
              } else {
                outcome.completeExceptionally(failure);
              }
            });
  }

  // The refusal may depend on an operation that is only queued, so the caller gets it once that one
  // is durable.
  private void refuseWhenDurable(SteleException why, CompletableFuture<OperationResult> outcome) {
    core.commits()
        .barrier()
        .whenComplete(
            (done, failure) -> fail(outcome, failure == null ? why : notKnown(why, failure)));
  }

  private static SteleException notKnown(SteleException why, Throwable failure) {
    return new SteleException(
        SteleException.Code.RETRY_LATER,
        "the operation was not applied, but whether it must be refused is not known, as the tablet"
            + " has stopped: try again ("
            + why.getMessage()
            + ")",
        failure);
  }

  private static void fail(CompletableFuture<OperationResult> outcome, Throwable why) {
    outcome.completeExceptionally(why);
  }
}
