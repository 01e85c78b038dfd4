package io.stele.log;

import io.stele.files.DurableFiles.Placement;
import io.stele.files.TooFewReplicasException;
import io.stele.runtime.Task;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.Condition;

/** What the {@link CommitPipeline} knows of one of the writers. Guarded by its lock. */
final class WriterState {
  /** A writer that waits for the file system this long is interrupted, and later abandoned. */
  static final Duration HUNG_AFTER = Duration.ofMinutes(2); // Above HDFS's own time limits.

  /** The same limit for a writer that is not active, when the log is closing. */
  static final Duration HUNG_AFTER_WHEN_CLOSING = Duration.ofSeconds(10);

  /** After this long a writer that waits for the file system counts as stuck. */
  static final Duration STUCK_AFTER = Duration.ofSeconds(1);

  final Condition wake;

  /** Its thread; empty until all of the log's threads are started. */
  Optional<Task> task = Optional.empty();

  /** Whether it has no segment, and waits until one is needed. */
  boolean parked = true;

  /** The number of its present or last segment, from when it begins to create it. */
  long number;

  /** Whether it hung with that segment, which is no longer kept, and may be deleted. */
  boolean givenUp;

  /** Whether that segment is to be left: its DataNodes are being taken away. */
  boolean leaves;

  /** The length of that segment's header. */
  long headerBytes;

  /** The acknowledged length of that segment. */
  long acknowledgedBytes;

  /** What that segment says about the previous one; set when the writer becomes active. */
  SegmentLink link = SegmentLink.NONE;

  /** Where that segment is; empty if it has ended, and no other is begun. */
  Optional<Placement> placement = Optional.empty();

  /** The DataNodes that receive that segment's data, one after the other, if known. */
  List<String> nodes = List.of();

  /** Whether an interrupt had no effect, so that nothing waits for the writer any more. */
  boolean hung;

  /** Whether its thread has ended. */
  boolean ended;

  // In a row; counted from 0 again when any writer completes a batch.
  private int failures;
  private String lastFailure = "";
  private boolean busy;
  private long sinceNanos;
  private boolean stuck;
  private boolean interrupted;

  WriterState(Condition wake) {
    this.wake = wake;
  }

  /** It has no segment, and waits until one is needed. */
  void park() {
    parked = true;
    placement = Optional.empty();
    nodes = List.of();
  }

  /** It is going to create a segment. */
  void creating(long segment, Placement where) {
    parked = false;
    number = segment;
    placement = Optional.of(where);
    nodes = List.of();
    givenUp = false;
    leaves = false;
  }

  /** It has created that segment. */
  void created(SegmentWriter segment) {
    headerBytes = segment.position();
    acknowledgedBytes = headerBytes;
    nodes = segment.nodes();
  }

  boolean hasRecords() {
    return acknowledgedBytes > headerBytes;
  }

  /**
   * Whether its segment is full with {@code batch}.
   *
   * @param segmentBytes how long a segment is when it is full; it may grow to twice that while
   *     there is no standby segment
   */
  boolean isFullWith(List<WaitingRecord> batch, long segmentBytes, boolean hasStandby) {
    long end = acknowledgedBytes;
    for (WaitingRecord record : batch) {
      end += LogFormat.FRAME_BYTES + record.bodyBytes();
    }
    return (hasStandby ? end : end / 2) >= segmentBytes;
  }

  /** Its segment could not be created or written. */
  void failed(IOException failure) {
    failures++;
    lastFailure =
        failure instanceof TooFewReplicasException
            ? String.valueOf(failure.getMessage())
            : "the commit log cannot be written now: " + failure;
  }

  /** A batch has completed, or earlier failures no longer count. */
  void succeeded() {
    failures = 0;
  }

  /** How often it failed in a row. */
  int failuresInARow() {
    return failures;
  }

  /** Its last failure, if it failed at least this many times in a row. */
  Optional<String> troubleAfter(int times) {
    return failures >= times ? Optional.of(lastFailure) : Optional.empty();
  }

  /** It starts a call to the file system. */
  void begin(long nowNanos) {
    busy = true;
    sinceNanos = nowNanos;
  }

  /** The call has returned; called by its own thread. */
  void end() {
    busy = false;
    stuck = false;
    hung = false;
    if (interrupted) {
      interrupted = false;
      task.ifPresent(Task::clearInterrupt); // It was meant for the call that has returned.
    }
  }

  /** Whether it waits for the file system and is not considered hung. */
  boolean isBusy() {
    return busy && !hung;
  }

  /** Counts it as stuck if it has waited for the file system for long. */
  void checkIfStuck(long nowNanos) {
    stuck |= isBusy() && nowNanos - sinceNanos > STUCK_AFTER.toNanos();
  }

  boolean isStuck() {
    return stuck;
  }

  /** Whether it has a segment, or is about to, and is not stuck. */
  boolean isWorking() {
    return !parked && !ended && !stuck;
  }

  /** When the call began. */
  long sinceNanos() {
    return sinceNanos;
  }

  /**
   * Interrupts it if it has waited for the file system for very long, and allows the same time
   * again. Then, unless it is active, it is hung until its call returns, if ever.
   *
   * @param active whether it is the active writer
   * @param closing whether the log is closing: it needs nothing from one that is not active, whose
   *     limit is shorter
   * @return whether it is now considered hung, and was not before
   */
  boolean giveUpIfHung(boolean active, boolean closing, long nowNanos) {
    Duration after = closing && !active ? HUNG_AFTER_WHEN_CLOSING : HUNG_AFTER;
    if (!isBusy() || nowNanos - sinceNanos < after.toNanos()) {
      return false;
    }
    if (interrupted) {
      hung = !active;
      return hung;
    }
    interrupted = true;
    sinceNanos = nowNanos;
    task.ifPresent(Task::interrupt);
    return false;
  }
}
