package io.stele.log;

import java.util.concurrent.locks.Condition;

/**
 * One of the two writers as the {@link CommitPipeline} sees it. All fields but the final ones are
 * guarded by the pipeline's lock.
 */
final class Seat {
  final Condition wake;

  /** The thread that sits here; set before it starts. */
  Thread thread;

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

  /** Whether it asks something of the file system at the moment, and since when. */
  boolean busy;

  long busySinceNanos;

  /** Whether that took so long that the thread was interrupted, and then even longer. */
  boolean interrupted;

  boolean hung;

  /** Whether its thread has come to its end. */
  boolean ended;

  Seat(Condition wake) {
    this.wake = wake;
  }

  boolean hasRecords() {
    return acknowledgedBytes > headerBytes;
  }
}
