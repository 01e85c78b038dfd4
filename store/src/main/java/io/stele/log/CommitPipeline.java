package io.stele.log;

import io.stele.runtime.ProcessRuntime;
import io.stele.runtime.Task;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;

/**
 * What waits for the log, what is under way, and which of the two writers has the turn: the monitor
 * in which a log's threads meet. It does no I/O and calls nobody back.
 *
 * <pre>
 * add -> queue -> next -> flight -> landed -> acknowledged
 *                           |
 *                           +-> (slow or failed) -> the other writer's flight -> ...
 * </pre>
 *
 * <p>At most one batch is in flight, and at most one writer is active: it alone takes batches. The
 * other ends the segment it had, creates the next, and stands by with it. The turn passes
 *
 * <ul>
 *   <li>when a segment is full: after a flight has landed;
 *   <li>when a write or flush fails: with the flight;
 *   <li>when a flight is slow and the other stands by: with the flight; whatever becomes of the
 *       slow writer's, it does not land any more.
 * </ul>
 *
 * <p>Segments are used in the order of their numbers: one that was created late, when a higher one
 * has been used, is not used at all. Safe for use by any number of threads.
 */
final class CommitPipeline {
  /** A writer that waits for the file system so long is interrupted, and later given up. */
  static final Duration PATIENCE = Duration.ofMinutes(2); // HDFS's own time limits are below.

  /** The same for a writer without the turn when the log is to end. */
  static final Duration PATIENCE_AT_THE_END = Duration.ofSeconds(10);

  /** How long the watch sleeps between two looks at what is under way. */
  private static final Duration WATCH_INTERVAL = Duration.ofMillis(20);

  private static final Duration PAUSE_MAX = Duration.ofSeconds(5);

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
  private final Condition changed; // Of seats; seldom waited for.

  // Guarded by lock, from here on.
  private final List<Seat> seats;
  private List<Task> tasks = List.of();
  private final RecordQueue queue;
  private boolean rollAsked;
  private State state = State.OPEN;
  private Optional<Seat> active = Optional.empty();
  private Optional<Seat> standby = Optional.empty();
  private Optional<Flight> flight = Optional.empty();
  private Optional<Flight> acknowledging = Optional.empty();
  private Optional<Flight> suspect = Optional.empty();
  private boolean watchSleeps;
  private SegmentLink last = SegmentLink.NONE; // The segment used last, and how far.
  private final SlowFlushes slowFlushes = new SlowFlushes();
  private long records;
  private long bytes;
  private long flushes;
  private long segments;
  private long failures;

  CommitPipeline(ProcessRuntime runtime, LogOptions options, SegmentLedger ledger) {
    this.runtime = runtime;
    this.options = options;
    this.ledger = ledger;
    this.lock = runtime.newLock();
    this.watching = lock.newCondition();
    this.changed = lock.newCondition();
    this.seats = List.of(new Seat(lock.newCondition()), new Seat(lock.newCondition()));
    this.queue = new RecordQueue(options.batchBytesMax());
  }

  List<Seat> seats() {
    return seats;
  }

  /**
   * Starts the log's threads: one for each seat, and the watch. It holds the lock meanwhile, so
   * that each finds its task here.
   */
  void start(String name, List<Runnable> writers) {
    lock.lock();
    try {
      List<Task> started = new ArrayList<>();
      for (int i = 0; i < writers.size(); i++) {
        Task task = runtime.start(name + "-" + (i + 1), writers.get(i));
        seats.get(i).task = Optional.of(task);
        started.add(task);
      }
      started.add(runtime.start(name + "-watch", this::watch));
      tasks = List.copyOf(started);
    } finally {
      lock.unlock();
    }
  }

  List<Task> tasks() {
    lock.lock();
    try {
      return tasks;
    } finally {
      lock.unlock();
    }
  }

  /** Whether the caller is one of the log's threads. */
  boolean isOwnTask() {
    return tasks().stream().anyMatch(Task::isCurrent);
  }

  // For those who use the log.

  /** Queues a record; false where the log has ended, so that it does not. */
  boolean add(WaitingRecord waiting) {
    lock.lock();
    try {
      if (state != State.OPEN) {
        return false;
      }
      if (active.isPresent()) {
        active.get().wake.signal();
      } else if (queue.isEmpty() && flight.isEmpty()) {
        startAfresh();
      }
      queue.add(waiting);
      return true;
    } finally {
      lock.unlock();
    }
  }

  boolean hasRoom() {
    lock.lock();
    try {
      return queue.bytes() < options.queuedBytesMax();
    } finally {
      lock.unlock();
    }
  }

  void roll() {
    lock.lock();
    try {
      rollAsked = true;
      active.ifPresent(seat -> seat.wake.signal());
    } finally {
      lock.unlock();
    }
  }

  /** Has the writers end when everything that waits has been written. */
  void close() {
    lock.lock();
    try {
      if (state == State.OPEN) {
        state = State.CLOSING;
      }
      signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Waits until no writer is at work any more, but for those that hang. */
  void awaitEnd() throws InterruptedException {
    lock.lockInterruptibly();
    try {
      while (!seats.stream().allMatch(seat -> seat.ended || (seat.hung && isOver()))) {
        changed.await();
      }
    } finally {
      lock.unlock();
    }
  }

  /** Waits until a segment stands by. */
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
      return new LogStatistics(
          records,
          bytes,
          flushes,
          segments,
          slowFlushes.switches(),
          failures,
          queue.bytes(),
          slowFlushes.percentile(50),
          slowFlushes.percentile(99));
    } finally {
      lock.unlock();
    }
  }

  // For the writers; in the order in which one goes through them.

  /** Whether there is nothing left to write. */
  boolean isOver() {
    lock.lock();
    try {
      return state == State.FAILED
          || (state == State.CLOSING && queue.isEmpty() && flight.isEmpty());
    } finally {
      lock.unlock();
    }
  }

  /** The writer is going to ask something of the file system. */
  void busy(Seat seat) {
    lock.lock();
    try {
      begin(seat);
    } finally {
      lock.unlock();
    }
  }

  /** The file system has answered the writer. */
  void idle(Seat seat) {
    lock.lock();
    try {
      seat.end();
    } finally {
      lock.unlock();
    }
  }

  /** Waits as long as is right after the failures of late, if there were any. */
  void pause(Seat seat) {
    lock.lock();
    try {
      boolean urgent = active.isEmpty();
      long left = seat.failures == 0 ? 0 : pauseNanos(seat.failures);
      while (left > 0 && !isOver() && (urgent || active.isPresent())) {
        try {
          left = seat.wake.awaitNanos(left);
        } catch (InterruptedException e) {
          return; // By the watch, a moment too late: the pause may be short.
        }
      }
    } finally {
      lock.unlock();
    }
  }

  /** The writer has created a segment. */
  void created(Seat seat, long number, long headerBytes) {
    lock.lock();
    try {
      seat.end();
      segments++;
      seat.number = number;
      seat.headerBytes = headerBytes;
      seat.acknowledgedBytes = headerBytes;
      if (isTooLate(seat)) {
        return;
      }
      if (active.isEmpty()) {
        activate(seat);
      } else {
        standby = Optional.of(seat);
        active.get().wake.signal(); // It may wait for this in order to roll.
        changed.signalAll();
      }
    } finally {
      lock.unlock();
    }
  }

  /** Stands by; true when the turn has come, false where the segment will not be used. */
  boolean awaitTurn(Seat seat) {
    lock.lock();
    try {
      while (!isOver() && !isActive(seat) && !isTooLate(seat)) {
        seat.wake.awaitUninterruptibly();
      }
      return isActive(seat);
    } finally {
      lock.unlock();
    }
  }

  /**
   * What the active writer is to write next, having told everybody of its last flight; waits for
   * it. A flight without records just rolls. Empty when the log is over.
   */
  Optional<Flight> next(Seat seat) {
    lock.lock();
    try {
      acknowledged();
      while (!isOver()) {
        if (flight.isEmpty() && !queue.isEmpty()) {
          List<WaitingRecord> batch = queue.take();
          takeOff(new Flight(seat, batch, isFullWith(batch, seat), runtime.nanoTime()));
        }
        rollAsked &= seat.hasRecords();
        if (flight.isEmpty() && rollAsked && standby.isPresent()) {
          takeOff(new Flight(seat, List.of(), true, runtime.nanoTime()));
          rollAsked = false;
        }
        if (flight.isPresent()) {
          begin(seat);
          return flight;
        }
        seat.wake.awaitUninterruptibly();
      }
      signalAll();
      return Optional.empty();
    } finally {
      lock.unlock();
    }
  }

  /**
   * The writer's flight is as durable as asked: true where it still has it, and so must tell those
   * who wait for its records.
   *
   * @param position how long the segment is with it
   */
  boolean landed(Seat seat, Flight landed, long position) {
    lock.lock();
    try {
      slowFlushes.add(runtime.nanoTime() - seat.sinceNanos());
      seat.end();
      if (!flight.equals(Optional.of(landed))) {
        return false;
      }
      flight = Optional.empty();
      acknowledging = Optional.of(landed);
      seat.acknowledgedBytes = position;
      last = new SegmentLink(seat.number, position);
      ledger.grown(seat.number, position);
      seats.forEach(one -> one.failures = 0);
      queue.landed(landed.bytes);
      records += landed.records.size();
      bytes += landed.bytes;
      flushes += landed.records.isEmpty() ? 0 : 1;
      return true;
    } finally {
      lock.unlock();
    }
  }

  /** The active writer, its segment being full, leaves the turn to whoever stands by. */
  void handOver(Seat seat) {
    lock.lock();
    try {
      acknowledged();
      if (isActive(seat)) {
        passOn();
      }
    } finally {
      lock.unlock();
    }
  }

  /** The writer could not create its segment, or write to it: that is of no use any more. */
  void failed(Seat seat) {
    lock.lock();
    try {
      seat.end();
      failures++;
      seat.failures++;
      if (isActive(seat)) {
        seats.stream().filter(other -> other != seat).forEach(other -> other.failures = 0);
        passOn();
        signalAll();
      }
    } finally {
      lock.unlock();
    }
  }

  /** Whether the log should give up: nobody can write what waits, and this one tried for long. */
  boolean hasFailedTooOften(Seat seat) {
    lock.lock();
    try {
      boolean nothingWaits = queue.isEmpty() && flight.isEmpty();
      return active.isEmpty() && !nothingWaits && seat.failures >= options.attemptsMax();
    } finally {
      lock.unlock();
    }
  }

  /** The writer's thread has come to its end. */
  void ended(Seat seat) {
    lock.lock();
    try {
      seat.ended = true;
      seat.hung = false;
      watching.signal();
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Ends the log for good, unless that was done before.
   *
   * @return all records that nobody has been told of; nothing lands any more
   */
  Optional<List<WaitingRecord>> fail() {
    lock.lock();
    try {
      if (state == State.FAILED) {
        return Optional.empty();
      }
      state = State.FAILED;
      // In order: whoever waits for the last flight that landed is told first.
      while (acknowledging.isPresent() && !isMine(acknowledging.get())) {
        changed.awaitUninterruptibly();
      }
      List<WaitingRecord> unknown = new ArrayList<>();
      acknowledging.ifPresent(one -> unknown.addAll(one.records));
      flight.ifPresent(one -> unknown.addAll(one.records));
      unknown.addAll(queue.clear());
      flight = Optional.empty();
      signalAll();
      return Optional.of(unknown);
    } finally {
      lock.unlock();
    }
  }

  // For the watch.

  /** Looks after the writers until they have ended. */
  void watch() {
    lock.lock();
    try {
      while (!seats.stream().allMatch(seat -> seat.ended || (seat.hung && isOver()))) {
        if (seats.stream().anyMatch(Seat::isBusy)) {
          watching.awaitNanos(WATCH_INTERVAL.toNanos());
        } else {
          watchSleeps = true;
          watching.await();
          watchSleeps = false;
        }
        look(runtime.nanoTime());
      }
    } catch (InterruptedException e) {
      throw new IllegalStateException("nobody may interrupt the watch of a log", e);
    } finally {
      lock.unlock();
    }
  }

  // Private; the lock is held.

  private void look(long now) {
    Optional<Flight> slow =
        flight.filter(
            one -> standby.isPresent() && slowFlushes.isSlow(now - one.sinceNanos, one.rolls));
    // Not at first sight: when all of this process stood still, it may be through in a moment.
    if (slow.isPresent() && slow.equals(suspect) && slowFlushes.maySwitch(now)) {
      slowFlushes.switched(now);
      passOn();
      slow = Optional.empty();
    }
    suspect = slow;
    seats.forEach(seat -> losePatience(seat, now));
  }

  private void losePatience(Seat seat, long now) {
    Duration patience = state == State.OPEN || isActive(seat) ? PATIENCE : PATIENCE_AT_THE_END;
    if (seat.isWaitingFor(patience, now)) {
      if (seat.interrupt(now) || isActive(seat)) {
        return;
      }
      seat.hung = true; // Until it comes back, if ever.
      ledger.ended(seat.number);
      changed.signalAll();
    }
  }

  private void begin(Seat seat) {
    seat.begin(runtime.nanoTime());
    if (watchSleeps) {
      watching.signal(); // Otherwise it looks soon enough by itself.
    }
  }

  private boolean isActive(Seat seat) {
    return active.isPresent() && active.get() == seat;
  }

  private boolean isMine(Flight one) {
    return one.writer.task.filter(Task::isCurrent).isPresent();
  }

  private boolean isTooLate(Seat seat) {
    return seat.number < last.previous();
  }

  private void passOn() {
    active = Optional.empty();
    standby.ifPresent(this::activate);
  }

  private void activate(Seat seat) {
    active = Optional.of(seat);
    standby = Optional.empty();
    seat.link = last;
    last = new SegmentLink(seat.number, seat.acknowledgedBytes);
    Optional<Flight> moved = flight.filter(one -> !one.records.isEmpty());
    flight = Optional.empty();
    moved.ifPresent(one -> takeOff(one.to(seat, runtime.nanoTime())));
    seat.wake.signal();
  }

  private void takeOff(Flight next) {
    // Here, not when it is written: by then a slow writer's may have been written by the other, and
    // released, and would be entered for ever.
    ledger.writing(next.writer.number, next.records);
    flight = Optional.of(next);
  }

  private void acknowledged() {
    if (acknowledging.isPresent()) {
      acknowledging = Optional.empty();
      if (state == State.FAILED) {
        changed.signalAll();
      }
    }
  }

  private boolean isFullWith(List<WaitingRecord> batch, Seat seat) {
    long end = seat.acknowledgedBytes;
    for (WaitingRecord record : batch) {
      end += LogFormat.FRAME_BYTES + record.body.size();
    }
    // Full is full when somebody can go on at once; otherwise twice that.
    return end >= options.segmentBytes()
        && (standby.isPresent() || end / 2 >= options.segmentBytes());
  }

  /** Something waits again: what failed before does not count against it. */
  private void startAfresh() {
    seats.forEach(seat -> seat.failures = 0);
    signalAll();
  }

  private void signalAll() {
    seats.forEach(seat -> seat.wake.signal());
    watching.signal();
    changed.signalAll();
  }

  private long pauseNanos(int failures) {
    long first = options.retryPause().toNanos();
    return Math.max(first, Math.min(PAUSE_MAX.toNanos(), first << Math.min(failures - 1, 20)));
  }
}
