package io.stele.log;

import io.stele.runtime.Task;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.locks.Condition;

/** One of the two writers as the {@link CommitPipeline} sees it. Guarded by the pipeline's lock. */
final class Seat {
  final Condition wake;

  /** Its thread; empty until all of the log's threads are started. */
  Optional<Task> task = Optional.empty();

  /** The segment it has, or had last. */
  long number;

  /** How long that segment's header is. */
  long headerBytes;

  /** How far that segment is acknowledged. */
  long acknowledgedBytes;

  /** What that segment is to say of the one before; set when its turn comes. */
  SegmentLink link = SegmentLink.NONE;

  /** Failures in a row, as long as nobody acknowledges anything. */
  int failures;

  /** Whether it was interrupted in vain, and is not waited for any more. */
  boolean hung;

  /** Whether its thread has come to its end. */
  boolean ended;

  private boolean busy;
  private long sinceNanos;
  private boolean interrupted;

  Seat(Condition wake) {
    this.wake = wake;
  }

  boolean hasRecords() {
    return acknowledgedBytes > headerBytes;
  }

  /** It asks something of the file system. */
  void begin(long nowNanos) {
    busy = true;
    sinceNanos = nowNanos;
  }

  /** It has an answer; called by its own thread. */
  void end() {
    busy = false;
    hung = false;
    if (interrupted) {
      interrupted = false;
      task.ifPresent(Task::clearInterrupt); // It was meant for what has ended now.
    }
  }

  /** Whether it waits for the file system, and is waited for. */
  boolean isBusy() {
    return busy && !hung;
  }

  /** Since when it has been busy. */
  long sinceNanos() {
    return sinceNanos;
  }

  /** Whether it has been busy for so long. */
  boolean isWaitingFor(Duration patience, long nowNanos) {
    return isBusy() && nowNanos - sinceNanos >= patience.toNanos();
  }

  /** Interrupts it, and gives it time again; false where that was done before. */
  boolean interrupt(long nowNanos) {
    if (interrupted) {
      return false;
    }
    interrupted = true;
    sinceNanos = nowNanos;
    task.ifPresent(Task::interrupt);
    return true;
  }
}
