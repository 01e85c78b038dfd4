package io.stele.tablet;

import io.stele.log.LogRecord;
import io.stele.memtable.Memtable;
import io.stele.model.Bytes;
import io.stele.model.Edit;
import io.stele.model.Mutation;
import io.stele.model.SteleException;
import io.stele.model.TableSchema;
import io.stele.model.TabletId;
import io.stele.record.LoweredCounts;
import io.stele.runtime.Futures;
import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Lock;

/**
 * Puts the changes of a tablet in order. Under one lock a change gets its sequence number and
 * timestamp, goes into the memtable and into the log's queue: so memtable, log and {@link
 * CommitQueue} have the same order, without gaps.
 *
 * <p>Freezing the memtable and pausing writes take the same lock, so that each falls between two
 * changes. If a step between assigning the number and queueing the record fails, the tablet stops:
 * its memory might differ from its log.
 *
 * <p>Safe for use by any number of threads. The lock is never held during a wait for the log or a
 * callback.
 */
final class Sequencer {
  /**
   * A change that is ready to be sequenced.
   *
   * @param mutation its edits
   * @param operation the client's operation, if retries must be recognized
   * @param result encoded, for retries; may be empty
   * @param log what it needs of the log
   * @param onVisible called once when the read point has moved past the change
   * @param outcome fails if the log fails
   */
  record Change(
      Mutation mutation,
      Optional<ClientOperations.Operation> operation,
      Bytes result,
      LogNeed log,
      Runnable onVisible,
      CompletableFuture<?> outcome) {}

  private final TabletCore core;
  private final TabletId id;
  private final TabletLog log;
  private final CommitQueue commits;
  private final Lock lock;
  private final AtomicInteger divisions = new AtomicInteger(); // Changed under the lock.

  // Written under the lock. Readers without the lock tolerate an old value.
  private volatile long lastSequence;

  // Set under the lock, so between two changes; cleared without it.
  private volatile boolean paused;

  // Set before paused; never cleared.
  private volatile boolean closed;

  /** A sequencer that assigns numbers above {@code lastSequence}. */
  Sequencer(TabletCore core, long lastSequence) {
    this.core = core;
    this.id = core.spec().id();
    this.log = core.environment().log();
    this.commits = core.commits();
    this.lock = core.environment().runtime().newLock();
    this.lastSequence = lastSequence;
  }

  /**
   * What a change depends on besides its row.
   *
   * @param rules the schema that allows it
   * @param divisions how often changes were divided into earlier and later ones: by a pin, because
   *     rows were cleared, or because files of a job were taken
   */
  record Basis(SchemaRules rules, int divisions) {}

  /** Take it before a change is evaluated. */
  Basis basis() {
    return new Basis(core.rules(), divisions.get());
  }

  /**
   * Assigns the next sequence number to a change and queues it for the log.
   *
   * @param basis taken before the change was evaluated
   * @return work to be done after all locks are released: it may run the callbacks of any operation
   * @throws SteleException RETRY_LATER if writes are paused, the tablet has stopped, or the basis
   *     has changed
   */
  Runnable add(Change change, Basis basis) {
    lock.lock();
    try {
      core.health().check();
      checkNotPaused();
      checkBasis(basis);
      long sequence = lastSequence + 1;
      LoggedCells cells = cells(change.mutation(), sequence);
      LogRecord record =
          new LogRecord(
              id,
              sequence,
              core.clock().highest(),
              core.rules().counts().latest(),
              change.operation().map(one -> one.logged(change.result())),
              cells.bytes());
      checkLength(record);
      try {
        change.operation().ifPresent(one -> core.window().queued(one, sequence, change.result()));
        CommitQueue.Entry entry = commits.add(sequence, change.onVisible(), change.outcome());
        cells.addTo(core.current().peek().active());
        lastSequence = sequence;
        CompletableFuture<Void> durable = log.append(record, change.log());
        return () ->
            durable.whenComplete((done, failure) -> logged(entry, failure, change.outcome()));
      } catch (IOException | RuntimeException | Error e) {
        core.health().stop(e); // At once: nothing may be queued after this.
        return () -> stop(e, change.outcome());
      }
    } finally {
      lock.unlock();
    }
  }

  private void checkBasis(Basis basis) {
    if (basis.rules() != core.rules()) { // Its family may have been erased since.
      throw SteleException.retryLater("the schema of tablet " + id + " has changed: try again");
    }
    // It may have read cells that were cleared since, or have a timestamp from before a pin that
    // does not see it.
    if (basis.divisions() != divisions.get()) {
      throw SteleException.retryLater(
          "tablet "
              + id
              + " was pinned, its rows were cleared, or it got files of a job, meanwhile: try"
              + " again");
    }
  }

  /**
   * Freezes the memtable at the last assigned sequence number.
   *
   * @return whether it contained anything that the files do not have
   */
  boolean freeze() {
    lock.lock();
    try {
      return freezeLocked();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Freezes the memtable, and divides the changes there: none that is sequenced later has a
   * timestamp that the tablet assigned before.
   *
   * @return a timestamp between those that the tablet has assigned to earlier changes and those of
   *     later ones, microseconds
   */
  long freezeForPin() {
    lock.lock();
    try {
      freezeLocked();
      long timestamp = core.clock().assign();
      divisions.incrementAndGet(); // After that, so that who sees it is assigned a later one.
      return timestamp;
    } finally {
      lock.unlock();
    }
  }

  private boolean freezeLocked() {
    TabletState now = core.current().peek();
    long covered = now.frozen().isEmpty() ? now.redoPoint() : now.frozen().get(0).boundary();
    if (lastSequence == covered) {
      return false;
    }
    now.active().freeze();
    CompletableFuture<Void> durable = commits.barrier();
    Memtable empty = new Memtable(core.environment().memtables());
    try {
      core.current().swap(state -> state.freeze(empty, lastSequence, durable));
    } finally {
      empty.release(); // Now the state holds it.
    }
    return true;
  }

  /** Replaces the schema, between two changes. */
  void alter(TableSchema schema, LoweredCounts lowered) {
    lock.lock();
    try {
      core.alter(schema, lowered, lastSequence);
    } finally {
      lock.unlock();
    }
  }

  /** Refuses changes from now on; completes when all accepted changes are durable. */
  CompletableFuture<Void> pause() {
    lock.lock();
    try {
      paused = true;
    } finally {
      lock.unlock();
    }
    return commits.barrier();
  }

  /**
   * Checks that no change has a number above {@code sequence}, and that none will get one.
   *
   * @throws IllegalStateException if changes are not paused, or one has such a number
   */
  void requireRest(long sequence) {
    lock.lock();
    try {
      if (!paused || lastSequence != sequence || commits.readPoint() != sequence) {
        throw new IllegalStateException(
            "tablet " + id + " has changes up to " + lastSequence + ", not only up to " + sequence);
      }
    } finally {
      lock.unlock();
    }
  }

  /**
   * Continues above {@code sequence}: the numbers up to it were assigned to contents of files.
   *
   * @param alteration the last one that was known when they were assigned: a later one counts as
   *     made after them, which is what the files will tell
   */
  void passTo(long sequence, int alteration) {
    lock.lock();
    try {
      core.alteredAfter(sequence, alteration);
      lastSequence = sequence;
      divisions.incrementAndGet();
    } finally {
      lock.unlock();
    }
  }

  /** Refuses changes permanently. */
  void close() {
    closed = true;
    pause();
  }

  /** Accepts changes again, unless the tablet was closed. */
  void resume() {
    paused = false;
  }

  /**
   * Refuses while writes are paused.
   *
   * @throws SteleException RETRY_LATER
   */
  void checkNotPaused() {
    if (paused || closed) {
      throw SteleException.retryLater("tablet " + id + " accepts no writes now: try again");
    }
  }

  // Checked before the record enters any queue: every acknowledged record must be readable.
  private void checkLength(LogRecord record) {
    if (record.bytesAtMost() > log.recordBytesMax()) {
      throw SteleException.refused(
          "the mutation needs "
              + record.bytesAtMost()
              + " bytes in the commit log: the limit is "
              + log.recordBytesMax()
              + "; make several mutations of it");
    }
  }

  private LoggedCells cells(Mutation mutation, long sequence) {
    long timestamp = needsTimestamp(mutation) ? core.clock().assign() : Edit.SERVER_TIMESTAMP;
    return LoggedCells.encode(mutation, sequence, timestamp);
  }

  private static boolean needsTimestamp(Mutation mutation) {
    for (Edit edit : mutation.edits()) {
      if (edit instanceof Edit.Put put && put.timestampMicros() == Edit.SERVER_TIMESTAMP) {
        return true;
      }
    }
    return false;
  }

  /** Handles the log's answer for an entry. */
  private void logged(CommitQueue.Entry entry, Throwable failure, CompletableFuture<?> outcome) {
    if (failure == null) {
      commits.durable(entry);
      return;
    }
    Throwable cause = Futures.cause(failure);
    // This is the only failure with a known outcome: the log had already ended.
    if (cause instanceof SteleException known && known.code() == SteleException.Code.RETRY_LATER) {
      outcome.completeExceptionally(known);
    }
    stop(cause, outcome);
  }

  /**
   * Stops the tablet.
   *
   * @param last the outcome of the change that failed, which may not be among the queued ones
   */
  private void stop(Throwable why, CompletableFuture<?> last) {
    core.health().stop(why);
    SteleException unknown =
        SteleException.outcomeUnknown(
            "tablet "
                + id
                + " has stopped with this operation queued: it may have been applied or not",
            why);
    commits.fail(unknown);
    last.completeExceptionally(unknown);
  }
}
