package io.stele.log;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.stele.runtime.ProcessRuntime;
import io.stele.runtime.Task;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;

/**
 * The state that the threads of a log share: the records that wait, the batch in flight, and which
 * of the two writers is active. Every method takes the one lock; none does I/O or calls back.
 *
 * <pre>
 * add -> queue -> next -> batch in flight -> completed -> acknowledged
 *                           |
 *                           +-> (slow or failed) -> batch in flight of the other writer -> ...
 * </pre>
 *
 * <p>At most one batch is in flight, and at most one writer is active: only this one takes batches.
 * The other ends the segment it had and creates a standby segment. The writers switch
 *
 * <ul>
 *   <li>when a segment is full: after its last batch has completed;
 *   <li>when a write or flush fails, or reached fewer replicas than the minimum: together with the
 *       batch;
 *   <li>when a flush is slow and the other writer has a standby segment: the batch goes to it too.
 *       The slow flush acknowledges nothing, however it ends.
 * </ul>
 *
 * <p>Segments are used in the order of their numbers: one that was created late, when a higher one
 * has been used, is not used at all. Safe for use by any number of threads.
 */
final class CommitPipeline {
  /** How long the watch sleeps between two looks at what may be slow. */
  private static final Duration WATCH_INTERVAL = Duration.ofMillis(20);

  private enum State {
    OPEN,
    CLOSING,
    FAILED
  }

  private final ProcessRuntime runtime;
  private final LogOptions options;
  private final SegmentLedger ledger;
  private final Lock lock;
  private final Condition watching;
  private final Condition changed; // The writers' state; seldom waited for.
  private final List<WriterState> writers; // What they hold is guarded by lock.

  @GuardedBy("lock")
  private final RecordQueue queue;

  @GuardedBy("lock")
  private boolean rollAsked;

  @GuardedBy("lock")
  private State state = State.OPEN;

  @GuardedBy("lock")
  private Optional<WriterState> active = Optional.empty();

  @GuardedBy("lock")
  private Optional<WriterState> standby = Optional.empty();

  @GuardedBy("lock")
  private Optional<BatchInFlight> inFlight = Optional.empty();

  @GuardedBy("lock")
  private Optional<BatchInFlight> acknowledging = Optional.empty();

  @GuardedBy("lock")
  private Optional<BatchInFlight> suspect = Optional.empty();

  @GuardedBy("lock")
  private boolean watchSleeps;

  @GuardedBy("lock")
  private SegmentLink last = SegmentLink.NONE; // The segment used last, and how far.

  @GuardedBy("lock")
  private SegmentLink lastLink = SegmentLink.NONE; // What that segment says about the previous one.

  @GuardedBy("lock")
  private boolean lastAcknowledged; // Whether that segment has acknowledged anything.

  @GuardedBy("lock")
  private final SlowFlushes slowFlushes = new SlowFlushes();

  @GuardedBy("lock")
  private final LogCounters counters = new LogCounters();

  CommitPipeline(ProcessRuntime runtime, LogOptions options, SegmentLedger ledger) {
    this.runtime = runtime;
    this.options = options;
    this.ledger = ledger;
    this.lock = runtime.newLock();
    this.watching = lock.newCondition();
    this.changed = lock.newCondition();
    this.writers =
        List.of(new WriterState(lock.newCondition()), new WriterState(lock.newCondition()));
    this.queue = new RecordQueue(options.batchBytesMax());
  }

  List<WriterState> writers() {
    return writers;
  }

  /**
   * Starts the log's threads: one for each writer, and the watchdog. Holds the lock during this, so
   * that each finds its task with its writer.
   */
  List<Task> start(String name, List<Runnable> work) {
    lock.lock();
    try {
      List<Task> started = new ArrayList<>();
      for (int i = 0; i < writers.size(); i++) {
        Task task = runtime.start(name + "-" + (i + 1), work.get(i));
        writers.get(i).task = Optional.of(task);
        started.add(task);
      }
      started.add(runtime.start(name + "-watch", this::watch));
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
      if (active.isEmpty() && queue.isEmpty() && inFlight.isEmpty()) {
        forgetFailures();
      }
      queue.add(waiting);
      wakeIfDue();
      return true;
    } finally {
      lock.unlock();
    }
  }

  /** Has the records that wait written, though more were to follow. */
  void flushSoon() {
    lock.lock();
    try {
      queue.makeDue();
      wakeIfDue();
    } finally {
      lock.unlock();
    }
  }

  @GuardedBy("lock")
  private void wakeIfDue() {
    if (queue.isDue()) {
      active.ifPresent(writer -> writer.wake.signal());
    }
  }

  /** Why no further record should be queued now; empty if one may be. */
  Optional<String> refusal() {
    lock.lock();
    try {
      if (queue.bytes() >= options.queuedBytesMax()) {
        return Optional.of("the queue of the commit log is full");
      }
      // After a few failures records wait: the next pipeline mostly works.
      return active.isPresent()
          ? Optional.empty()
          : writers.stream()
              .flatMap(writer -> writer.troubleAfter(options.attemptsMax()).stream())
              .findFirst();
    } finally {
      lock.unlock();
    }
  }

  void roll() {
    lock.lock();
    try {
      rollAsked = true;
      active.ifPresent(writer -> writer.wake.signal());
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
        queue.makeDue();
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
      while (!writers.stream().allMatch(writer -> writer.ended || (writer.hung && isOver()))) {
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
      while (standby.isEmpty() && state == State.OPEN) {
        changed.await();
      }
    } finally {
      lock.unlock();
    }
  }

  LogStatistics statistics() {
    lock.lock();
    try {
      return counters.statistics(slowFlushes, queue.bytes());
    } finally {
      lock.unlock();
    }
  }

  // For the writers, in the order in which one calls them.

  /** Whether there is nothing left to write. */
  boolean isOver() {
    lock.lock();
    try {
      return state == State.FAILED
          || (state == State.CLOSING && queue.isEmpty() && inFlight.isEmpty());
    } finally {
      lock.unlock();
    }
  }

  /** The writer is going to ask something of the file system. */
  void busy(WriterState writer) {
    lock.lock();
    try {
      begin(writer);
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

  /** Waits a while if the writer's last segments failed: longer after each failure in a row. */
  void pause(WriterState writer) {
    lock.lock();
    try {
      boolean urgent = active.isEmpty();
      long left = options.pauseAfter(writer.failuresInARow()).toNanos();
      while (left > 0 && !isOver() && (urgent || active.isPresent())) {
        try {
          left = writer.wake.awaitNanos(left);
        } catch (InterruptedException e) {
          return; // The watch was a moment too late with it: a short pause does no harm.
        }
      }
    } finally {
      lock.unlock();
    }
  }

  /** The node that takes what the other writer writes first, as far as that is known. */
  Optional<String> firstNodeOfOther(WriterState writer) {
    lock.lock();
    try {
      return writers.stream()
          .filter(other -> other != writer)
          .flatMap(other -> other.firstNode.stream())
          .findFirst();
    } finally {
      lock.unlock();
    }
  }

  /** The writer has created a segment. */
  void created(WriterState writer, LogWriter segment) {
    long headerBytes = segment.position();
    lock.lock();
    try {
      writer.end();
      writer.firstNode = segment.firstNode();
      counters.created();
      writer.number = segment.header().number();
      writer.headerBytes = headerBytes;
      writer.acknowledgedBytes = headerBytes;
      if (isTooLate(writer)) {
        return;
      }
      if (active.isEmpty()) {
        activate(writer);
      } else {
        standby = Optional.of(writer);
        active.get().wake.signal(); // It may wait for a standby in order to roll.
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
      while (!isOver() && !isActive(writer) && !isTooLate(writer)) {
        writer.wake.awaitUninterruptibly();
      }
      return isActive(writer);
    } finally {
      lock.unlock();
    }
  }

  /**
   * The batch that the active writer is to write next; waits for one. The writer has acknowledged
   * its last batch before. A batch without records only rolls. Empty when the log is over.
   */
  Optional<BatchInFlight> next(WriterState writer) {
    lock.lock();
    try {
      acknowledged();
      while (!isOver()) {
        if (inFlight.isEmpty() && queue.isDue()) {
          List<WaitingRecord> batch = queue.take();
          startBatch(
              new BatchInFlight(writer, batch, isFullWith(batch, writer), runtime.nanoTime()));
        }
        rollAsked &= writer.hasRecords();
        if (inFlight.isEmpty() && rollAsked && standby.isPresent()) {
          startBatch(new BatchInFlight(writer, List.of(), true, runtime.nanoTime()));
          rollAsked = false;
        }
        if (inFlight.isPresent()) {
          begin(writer);
          return inFlight;
        }
        writer.wake.awaitUninterruptibly();
      }
      signalAll();
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
      slowFlushes.add(runtime.nanoTime() - writer.sinceNanos());
      writer.end();
      if (!inFlight.equals(Optional.of(completed))) {
        return false;
      }
      inFlight = Optional.empty();
      acknowledging = Optional.of(completed);
      writer.acknowledgedBytes = position;
      last = new SegmentLink(writer.number, position, SegmentSummary.EMPTY);
      lastAcknowledged = true;
      ledger.grown(writer.number, position);
      writers.forEach(WriterState::succeeded);
      queue.completed(completed.bytes);
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
      acknowledged();
      if (isActive(writer)) {
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
      if (isActive(writer)) {
        writers.stream().filter(other -> other != writer).forEach(WriterState::succeeded);
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
          && active.isEmpty()
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
      watching.signal();
      changed.signalAll();
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
      // In order: a batch that has completed is acknowledged first.
      while (acknowledging.isPresent() && !isMine(acknowledging.get())) {
        changed.awaitUninterruptibly();
      }
      List<WaitingRecord> unknown = new ArrayList<>();
      acknowledging.ifPresent(one -> unknown.addAll(one.records));
      inFlight.ifPresent(one -> unknown.addAll(one.records));
      unknown.addAll(queue.clear());
      inFlight = Optional.empty();
      signalAll();
      return Optional.of(unknown);
    } finally {
      lock.unlock();
    }
  }

  // For the watch.

  /** Watches the writers until they have ended: for slow flushes, and for calls that hang. */
  void watch() {
    lock.lock();
    try {
      while (!writers.stream().allMatch(writer -> writer.ended || (writer.hung && isOver()))) {
        if (writers.stream().anyMatch(WriterState::isBusy)) {
          watching.awaitNanos(nanosToNextLook(runtime.nanoTime()));
        } else {
          watchSleeps = true;
          watching.await();
          watchSleeps = false;
        }
        look(runtime.nanoTime());
      }
    } catch (InterruptedException e) {
      throw new IllegalStateException("the watchdog of a log must not be interrupted", e);
    } finally {
      lock.unlock();
    }
  }

  /** No flush that is under way, or begins from now on, can be slow any sooner. */
  @GuardedBy("lock")
  private long nanosToNextLook(long now) {
    long age = inFlight.map(one -> now - one.sinceNanos).orElse(0L);
    return Math.max(WATCH_INTERVAL.toNanos(), SlowFlushes.SLOW_MIN.toNanos() - age);
  }

  @GuardedBy("lock")
  private void look(long now) {
    Optional<BatchInFlight> slow =
        inFlight.filter(
            one -> standby.isPresent() && slowFlushes.isSlow(now - one.sinceNanos, one.rolls));
    // Only at the second look: if the whole process stood still, the flush may be about to end.
    if (slow.isPresent() && slow.equals(suspect) && slowFlushes.maySwitch(now)) {
      slowFlushes.switched(now);
      passTurn();
      slow = Optional.empty();
    }
    suspect = slow;
    writers.forEach(writer -> interruptIfHung(writer, now));
  }

  @GuardedBy("lock")
  private void interruptIfHung(WriterState writer, long now) {
    boolean closing = state != State.OPEN && !isActive(writer);
    if (writer.seemsToHang(closing, now)) {
      if (writer.interrupt(now) || isActive(writer)) {
        return;
      }
      writer.hung = true; // Until its call returns, if ever.
      ledger.ended(writer.number);
      changed.signalAll();
    }
  }

  @GuardedBy("lock")
  private void begin(WriterState writer) {
    writer.begin(runtime.nanoTime());
    if (watchSleeps) {
      watching.signal(); // Otherwise it looks soon enough anyway.
    }
  }

  @GuardedBy("lock")
  private boolean isActive(WriterState writer) {
    return active.isPresent() && active.get() == writer;
  }

  private boolean isMine(BatchInFlight one) {
    return one.writer.task.filter(Task::isCurrent).isPresent();
  }

  @GuardedBy("lock")
  private boolean isTooLate(WriterState writer) {
    return writer.number < last.previous();
  }

  @GuardedBy("lock")
  private void passTurn() {
    active = Optional.empty();
    standby.ifPresent(this::activate);
  }

  @GuardedBy("lock")
  private void activate(WriterState writer) {
    active = Optional.of(writer);
    standby = Optional.empty();
    writer.link = linkToLast();
    last = new SegmentLink(writer.number, writer.acknowledgedBytes, SegmentSummary.EMPTY);
    lastLink = writer.link;
    lastAcknowledged = false;
    Optional<BatchInFlight> moved = inFlight.filter(one -> !one.records.isEmpty());
    inFlight = Optional.empty();
    moved.ifPresent(one -> startBatch(one.to(writer, runtime.nanoTime())));
    writer.wake.signal();
  }

  /**
   * What the next segment says about the one used last. If that has acknowledged nothing, nothing
   * is lost with it, and its writer may delete it: then the next one says what it would have said.
   */
  @GuardedBy("lock")
  private SegmentLink linkToLast() {
    return lastAcknowledged
        ? new SegmentLink(
            last.previous(), last.previousAcknowledgedBytes(), ledger.takeSummary(last.previous()))
        : lastLink;
  }

  @GuardedBy("lock")
  private void startBatch(BatchInFlight next) {
    // Entered now, not when it is written: by then the other writer may have written a slow
    // writer's batch, and its tablets released it; it would stay in the ledger forever.
    ledger.writing(next.writer.number, next.records);
    inFlight = Optional.of(next);
  }

  @GuardedBy("lock")
  private void acknowledged() {
    if (acknowledging.isPresent()) {
      acknowledging = Optional.empty();
      if (state == State.FAILED) {
        changed.signalAll();
      }
    }
  }

  @GuardedBy("lock")
  private boolean isFullWith(List<WaitingRecord> batch, WriterState writer) {
    long end = writer.lengthWith(batch);
    // A segment may grow to twice its size while there is no standby segment.
    return end >= options.segmentBytes()
        && (standby.isPresent() || end / 2 >= options.segmentBytes());
  }

  /** Failures while nothing waited do not count against what waits now. */
  @GuardedBy("lock")
  private void forgetFailures() {
    writers.forEach(WriterState::succeeded);
    signalAll();
  }

  @GuardedBy("lock")
  private void signalAll() {
    writers.forEach(writer -> writer.wake.signal());
    watching.signal();
    changed.signalAll();
  }
}
