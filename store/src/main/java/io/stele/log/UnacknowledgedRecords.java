package io.stele.log;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The records of a log that are not acknowledged yet, in order: those that wait for a writer, the
 * batch in flight, and the batch that has completed and is being acknowledged. At most one batch is
 * in flight.
 *
 * <p>Guarded by the lock of the {@link CommitPipeline}.
 */
final class UnacknowledgedRecords {
  private static final int BATCH_USUAL = 64;

  private final ArrayDeque<WaitingRecord> queue = new ArrayDeque<>();
  private final long batchBytesMax;
  private Optional<BatchInFlight> inFlight = Optional.empty();
  private Optional<BatchInFlight> completed = Optional.empty();
  private long bytes;
  private long waitingBytes;
  private boolean due;

  /**
   * No records.
   *
   * @param batchBytesMax a batch takes no further record when it has this size
   */
  UnacknowledgedRecords(long batchBytesMax) {
    this.batchBytesMax = batchBytesMax;
  }

  /** Queues a record. */
  void add(WaitingRecord waiting) {
    queue.add(waiting);
    bytes += waiting.bodyBytes();
    waitingBytes += waiting.bodyBytes();
    due |= !waiting.moreFollow || waitingBytes >= batchBytesMax;
  }

  /** Whether the records that wait are to be written now, not together with some to follow. */
  boolean isDue() {
    return due;
  }

  /** No more follow on those that wait. */
  void makeDue() {
    due = !queue.isEmpty();
  }

  /** Whether nothing is left to write. */
  boolean isWritten() {
    return queue.isEmpty() && inFlight.isEmpty();
  }

  /** Bytes of the records that wait, and of batches taken that have not completed. */
  long bytes() {
    return bytes;
  }

  /** Takes the records of the next batch, which is then to be in flight. */
  List<WaitingRecord> take() {
    List<WaitingRecord> batch = new ArrayList<>(BATCH_USUAL);
    long size = 0;
    while (!queue.isEmpty() && size < batchBytesMax) {
      WaitingRecord next = queue.remove();
      size += next.bodyBytes();
      batch.add(next);
    }
    waitingBytes -= size;
    due = !queue.isEmpty();
    return batch;
  }

  /** Puts a batch in flight. */
  void start(BatchInFlight batch) {
    inFlight = Optional.of(batch);
  }

  Optional<BatchInFlight> inFlight() {
    return inFlight;
  }

  /** Takes the batch in flight from its writer, who cannot complete it any more. */
  Optional<BatchInFlight> takeInFlight() {
    Optional<BatchInFlight> taken = inFlight;
    inFlight = Optional.empty();
    return taken;
  }

  /**
   * A batch is as durable as asked, and is now to be acknowledged; false if it is not in flight any
   * more.
   */
  boolean completed(BatchInFlight batch) {
    if (!inFlight.equals(Optional.of(batch))) {
      return false;
    }
    inFlight = Optional.empty();
    completed = Optional.of(batch);
    bytes -= batch.bytes;
    return true;
  }

  /** The batch that has completed and is being acknowledged. */
  Optional<BatchInFlight> completed() {
    return completed;
  }

  /** That batch has been acknowledged. */
  void acknowledged() {
    completed = Optional.empty();
  }

  /** All of these records; none waits or is in flight any more. */
  List<WaitingRecord> drain() {
    List<WaitingRecord> all = new ArrayList<>();
    completed.ifPresent(batch -> all.addAll(batch.records));
    takeInFlight().ifPresent(batch -> all.addAll(batch.records));
    all.addAll(queue);
    queue.clear();
    waitingBytes = 0;
    due = false;
    return all;
  }
}
