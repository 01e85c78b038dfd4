package io.stele.log;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.stele.files.DurableFiles.Placement;
import io.stele.runtime.ProcessRuntime;
import io.stele.runtime.Task;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.stream.Stream;

/**
 * The state that the threads of a log share: the records that wait, the batch in flight, and which
 * of the writers is active. Every method takes the one lock, which guards all parts; none does I/O
 * or calls back.
 *
 * <pre>
 * add -> queue -> next -> batch in flight -> completed -> acknowledged
 *                           |
 *                           +-> (slow or failed) -> batch in flight of another writer -> ...
 * </pre>
 *
 * <p>At most one batch is in flight, and at most one writer is active: only this one takes batches.
 * Another ends the segment it had and creates a standby segment. The others are spare: they are
 * parked until one of those two is stuck in a call to the file system. The writers switch
 *
 * <ul>
 *   <li>when a segment is full: after its last batch has completed;
 *   <li>when a write or flush fails, or reached fewer replicas than the minimum: together with the
 *       batch;
 *   <li>when a flush is slow and there is a standby segment: the batch goes to its writer too. The
 *       slow flush acknowledges nothing, however it ends.
 * </ul>
 *
 * <p>Segments are used in the order of their numbers: one that was created late, when a higher one
 * has been used, or when its writer had been given up, is not used at all. Safe for use by any
 * number of threads.
 */
final class CommitPipeline {
  /**
   * Two work at a time. Where several segments in a row have a DataNode that hangs, that many more
   * may be stuck until HDFS gives it up, after a minute.
   */
  private static final int WRITERS = 6;

  private enum State {
    OPEN,
    CLOSING,
    FAILED
  }

  private final ProcessRuntime runtime;
  private final LogOptions options;
  private final SegmentLedger ledger;
  private final Lock lock;
  private final Condition changed; // Signalled when a writer's state changes; rarely waited for.

  @GuardedBy("lock")
  private final WriterTurns turns;

  @GuardedBy("lock")
  private final SegmentChain chain;

  @GuardedBy("lock")
  private final UnacknowledgedRecords records;

  @GuardedBy("lock")
  private boolean rollAsked;

  @GuardedBy("lock")
  private State state = State.OPEN;

  @GuardedBy("lock")
  private final WriterWatch watch;

  @GuardedBy("lock")
  private final LogCounters counters = new LogCounters();

  CommitPipeline(ProcessRuntime runtime, LogOptions options, SegmentLedger ledger) {
    this.runtime = runtime;
    this.options = options;
    this.ledger = ledger;
    this.lock = runtime.newLock();
    this.changed = lock.newCondition();
    this.turns = new WriterTurns(Stream.generate(lock::newCondition).limit(WRITERS).toList());
    this.watch = new WriterWatch(runtime, lock.newCondition(), turns, ledger);
    this.chain = new SegmentChain(ledger);
    this.records = new UnacknowledgedRecords(options.batchBytesMax());
  }

  List<WriterState> writers() {
    lock.lock();
    try {
      return turns.writers();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Starts the log's threads: one for each writer, and the watchdog, which calls {@link #watch}.
   * Holds the lock during this, so that each finds its task with its writer.
   */
  List<Task> start(String name, List<Runnable> work, Runnable watchdog) {
    lock.lock();
    try {
      List<Task> started = new ArrayList<>();
      List<WriterState> writers = turns.writers();
      for (int i = 0; i < writers.size(); i++) {
        Task task = runtime.start(name + "-" + (i + 1), work.get(i));
        writers.get(i).task = Optional.of(task);
        started.add(task);
      }
      started.add(runtime.start(name + "-watch", watchdog));
      return List.copyOf(started);
    } finally {
      lock.unlock();
    }
  }

  // For callers of the log.

  /** Queues a record; false if the log has ended. */
  boolean add(WaitingRecord waiting) {
    lock.lock();
    try {
      if (state != State.OPEN) {
        return false;
      }
      if (!turns.hasActive() && records.isWritten()) {
        forgetFailures();
      }
      records.add(waiting);
      wakeIfDue();
      return true;
    } finally {
      lock.unlock();
    }
  }

  /** Has the waiting records written now, even if more were announced. */
  void flushSoon() {
    lock.lock();
    try {
      records.makeDue();
      wakeIfDue();
    } finally {
      lock.unlock();
    }
  }

  @GuardedBy("lock")
  private void wakeIfDue() {
    if (records.isDue()) {
      turns.wakeActive();
    }
  }

  /** Why no further record should be queued now; empty if one may be. */
  Optional<String> refusal() {
    lock.lock();
    try {
      if (records.bytes() >= options.queuedBytesMax()) {
        return Optional.of("the queue of the commit log is full");
      }
      // Records wait through a few failures: the next pipeline usually works.
      return turns.troubleAfter(options.attemptsMax(), !records.isWritten());
    } finally {
      lock.unlock();
    }
  }

  void roll() {
    lock.lock();
    try {
      rollAsked = true;
      turns.wakeActive();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Leaves segments. One that stands by is not used. The active one is ended, even without records,
   * as soon as another stands by; until then it is used, as there may be no better place.
   *
   * @param segments their numbers; others than those of the writers do not count
   * @return whether any is left that was not before
   */
  boolean leave(Set<Long> segments) {
    lock.lock();
    try {
      boolean any = false;
      for (WriterState writer : turns.writers()) {
        if (!writer.parked && !writer.leaves && segments.contains(writer.number)) {
          writer.leaves = true;
          any = true;
          if (turns.isActive(writer)) {
            rollAsked = true;
            turns.wakeActive();
          } else {
            turns.leave(writer);
          }
        }
      }
      return any;
    } finally {
      lock.unlock();
    }
  }

  /** Makes the writers end once they have written everything that waits. */
  void close() {
    lock.lock();
    try {
      if (state == State.OPEN) {
        state = State.CLOSING;
        records.makeDue();
      }
      signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Waits until no writer is working, except those that hang. */
  void awaitEnd() throws InterruptedException {
    lock.lockInterruptibly();
    try {
      while (!turns.haveEnded(isOver())) {
        changed.await();
      }
    } finally {
      lock.unlock();
    }
  }

  /** Waits until there is a standby segment. */
  void awaitStandby() throws InterruptedException {
    lock.lockInterruptibly();
    try {
      while (!turns.hasStandby() && state == State.OPEN) {
        changed.await();
      }
    } finally {
      lock.unlock();
    }
  }

  LogStatistics statistics() {
    lock.lock();
    try {
      return counters.statistics(watch.flushes(), records.bytes());
    } finally {
      lock.unlock();
    }
  }

  // For the writers, in the order in which one calls them.

  /** Whether there is nothing left to write. */
  boolean isOver() {
    lock.lock();
    try {
      return state == State.FAILED || (state == State.CLOSING && records.isWritten());
    } finally {
      lock.unlock();
    }
  }

  /** The writer is going to ask something of the file system. */
  void busy(WriterState writer) {
    lock.lock();
    try {
      watch.begin(writer);
    } finally {
      lock.unlock();
    }
  }

  /** The file system has answered the writer. */
  void idle(WriterState writer) {
    lock.lock();
    try {
      writer.end();
    } finally {
      lock.unlock();
    }
  }

  /** Waits until a segment of the writer is needed; false if the log has ended and needs none. */
  boolean awaitNeed(WriterState writer) {
    lock.lock();
    try {
      writer.park();
      while (!isOver() && !turns.needsWriter()) {
        writer.wake.awaitUninterruptibly();
      }
      writer.parked = false;
      return !isOver();
    } finally {
      lock.unlock();
    }
  }

  /** Waits a while if the writer's last segments failed: longer after each failure in a row. */
  void pause(WriterState writer) {
    lock.lock();
    try {
      boolean urgent = !turns.hasActive();
      long left = options.pauseAfter(writer.failuresInARow()).toNanos();
      while (left > 0 && !isOver() && (urgent || turns.hasActive())) {
        try {
          left = writer.wake.awaitNanos(left);
        } catch (InterruptedException e) {
          return; // The watchdog was a moment too late: a shorter pause does no harm.
        }
      }
    } finally {
      lock.unlock();
    }
  }

  /** Where the writer's next segment is to be. */
  Placement placementFor(WriterState writer) {
    lock.lock();
    try {
      return turns.placementFor(writer);
    } finally {
      lock.unlock();
    }
  }

  /** The nodes that take first what other writers write, as far as they are known. */
  Set<String> firstNodesOfOthers(WriterState writer) {
    lock.lock();
    try {
      return turns.firstNodesOfOthers(writer);
    } finally {
      lock.unlock();
    }
  }

  /** The nodes where a new segment should be, the best first; none if it may be anywhere. */
  List<String> preferredNodes() {
    lock.lock();
    try {
      return turns.hangingNodes().best(runtime.random());
    } finally {
      lock.unlock();
    }
  }

  /** The writer is going to create a segment; returns its number. */
  long creating(WriterState writer, Placement where) {
    lock.lock();
    try {
      writer.creating(ledger.opening(), where);
      return writer.number;
    } finally {
      lock.unlock();
    }
  }

  /** The writer has created a segment. */
  void created(WriterState writer, SegmentWriter segment) {
    lock.lock();
    try {
      writer.end();
      writer.created(segment);
      counters.created();
      if (!turns.hasActive() && !isTooLate(writer)) {
        rollAsked |= writer.leaves; // It is left as soon as there is another.
        activate(writer);
      } else if (!isUseless(writer)) {
        turns.standBy(writer);
        turns.wakeActive(); // It may wait for a standby in order to roll.
        changed.signalAll();
      }
    } finally {
      lock.unlock();
    }
  }

  /**
   * Waits on standby; true when the writer becomes active, false if its segment will not be used.
   */
  boolean awaitTurn(WriterState writer) {
    lock.lock();
    try {
      while (!isOver() && !turns.isActive(writer) && !isUseless(writer)) {
        writer.wake.awaitUninterruptibly();
      }
      return turns.isActive(writer);
    } finally {
      lock.unlock();
    }
  }

  /**
   * The batch that the writer is to write next; waits for one. The writer has acknowledged its last
   * batch before. A batch without records only rolls. Empty when the log is over, or the writer is
   * not active: its turn may pass before it has taken the batch that waited for it.
   */
  Optional<BatchInFlight> next(WriterState writer) {
    lock.lock();
    try {
      acknowledged(writer);
      while (!isOver() && turns.isActive(writer)) {
        if (records.inFlight().isEmpty() && records.isDue()) {
          List<WaitingRecord> batch = records.take();
          boolean full = writer.isFullWith(batch, options.segmentBytes(), turns.hasStandby());
          startBatch(new BatchInFlight(writer, batch, full, runtime.nanoTime()));
        }
        rollAsked &= writer.hasRecords() || writer.leaves;
        if (records.inFlight().isEmpty() && rollAsked && turns.hasStandby()) {
          startBatch(new BatchInFlight(writer, List.of(), true, runtime.nanoTime()));
          rollAsked = false;
        }
        if (records.inFlight().isPresent()) {
          watch.begin(writer);
          return records.inFlight();
        }
        writer.wake.awaitUninterruptibly();
      }
      if (isOver()) {
        signalAll();
      }
      return Optional.empty();
    } finally {
      lock.unlock();
    }
  }

  /**
   * The writer's batch is as durable as asked.
   *
   * @param position how long the segment is with it
   * @return whether the batch is still this writer's, so that it must acknowledge the records
   */
  boolean completed(WriterState writer, BatchInFlight completed, long position) {
    lock.lock();
    try {
      watch.completed(writer);
      if (completed.writer != writer || !records.completed(completed)) {
        return false;
      }
      writer.acknowledgedBytes = position;
      chain.acknowledged(position);
      turns.succeeded();
      counters.completed(completed);
      return true;
    } finally {
      lock.unlock();
    }
  }

  /** The active writer's segment is full: the standby writer becomes active. */
  void handOver(WriterState writer) {
    lock.lock();
    try {
      acknowledged(writer);
      if (turns.isActive(writer)) {
        passTurn();
      }
    } finally {
      lock.unlock();
    }
  }

  /** The writer could not create its segment, or write to it: the segment is no longer used. */
  void failed(WriterState writer, IOException failure) {
    lock.lock();
    try {
      writer.end();
      counters.failed();
      writer.failed(failure);
      if (turns.isActive(writer)) {
        if (records.inFlight().filter(batch -> !batch.records.isEmpty()).isPresent()) {
          turns.activeFailed(writer);
        }
        passTurn();
        signalAll();
      }
    } finally {
      lock.unlock();
    }
  }

  /**
   * Whether to give up what still waits: the log is closing, and segments have failed too often.
   */
  boolean givesUpClosing(WriterState writer) {
    lock.lock();
    try {
      return state == State.CLOSING
          && !turns.hasActive()
          && !isOver()
          && writer.failuresInARow() >= options.attemptsMax();
    } finally {
      lock.unlock();
    }
  }

  /** The writer's thread has come to its end. */
  void ended(WriterState writer) {
    lock.lock();
    try {
      writer.ended = true;
      writer.hung = false;
      signalAll();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Ends the log for good, unless that was done before.
   *
   * @return all records that have not been acknowledged, and will not be
   */
  Optional<List<WaitingRecord>> fail() {
    lock.lock();
    try {
      if (state == State.FAILED) {
        return Optional.empty();
      }
      state = State.FAILED;
      // In order: a batch that has completed is acknowledged first, unless its writer cannot.
      while (records.completed().filter(one -> !isMine(one) && !one.writer.ended).isPresent()) {
        changed.awaitUninterruptibly();
      }
      List<WaitingRecord> unknown = records.drain();
      signalAll();
      return Optional.of(unknown);
    } finally {
      lock.unlock();
    }
  }

  /** For the watchdog: watches the writers until they have ended. */
  void watch() {
    lock.lock();
    try {
      while (!turns.haveEnded(isOver())) {
        watch.await(records.inFlight());
        if (watch.switchIfSlow(records.inFlight())) {
          passTurn();
        }
        if (watch.giveUpHung(state != State.OPEN)) {
          changed.signalAll();
        }
        if (turns.needsWriter()) {
          turns.wakeParked();
        }
      }
    } catch (InterruptedException e) {
      throw new IllegalStateException("the watchdog of a log must not be interrupted", e);
    } finally {
      lock.unlock();
    }
  }

  private boolean isMine(BatchInFlight one) {
    return one.writer.task.filter(Task::isCurrent).isPresent();
  }

  /** Whether the writer has taken so long to create its segment that it cannot be used. */
  @GuardedBy("lock")
  private boolean isTooLate(WriterState writer) {
    return writer.givenUp || chain.isTooLate(writer.number);
  }

  /** Whether the writer's segment, which is not active, cannot be used, or should not be. */
  @GuardedBy("lock")
  private boolean isUseless(WriterState writer) {
    return writer.leaves || isTooLate(writer);
  }

  @GuardedBy("lock")
  private void passTurn() {
    turns.endTurn().ifPresent(this::activate);
  }

  @GuardedBy("lock")
  private void activate(WriterState writer) {
    turns.activate(writer);
    writer.link = chain.append(writer.number);
    records
        .takeInFlight()
        .filter(one -> !one.records.isEmpty())
        .ifPresent(one -> startBatch(one.to(writer, runtime.nanoTime())));
  }

  @GuardedBy("lock")
  private void startBatch(BatchInFlight next) {
    // Entered now, not when it is written: by then another writer may have written a slow
    // writer's batch, and its tablets released it; it would stay in the ledger forever.
    ledger.writing(next.writer.number, next.records);
    records.start(next);
  }

  /** The writer has acknowledged the batch that it had completed, if any. */
  @GuardedBy("lock")
  private void acknowledged(WriterState writer) {
    if (records.completed().filter(one -> one.writer == writer).isEmpty()) {
      return;
    }
    records.acknowledged();
    if (state == State.FAILED) {
      changed.signalAll(); // For fail, which may wait for this.
    }
  }

  /** Failures while nothing waited do not count against what waits now. */
  @GuardedBy("lock")
  private void forgetFailures() {
    turns.succeeded();
    signalAll();
  }

  @GuardedBy("lock")
  private void signalAll() {
    turns.wakeAll();
    watch.wake();
    changed.signalAll();
  }
}
