package io.stele.log;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/** Records that wait for a writer, in order. Guarded by the lock of the {@link CommitPipeline}. */
final class RecordQueue {
  private static final int BATCH_USUAL = 64;

  private final ArrayDeque<WaitingRecord> queue = new ArrayDeque<>();
  private final long batchBytesMax;
  private long bytes;
  private long waitingBytes;
  private boolean due;

  /**
   * An empty queue.
   *
   * @param batchBytesMax a batch takes no further record when it has this size
   */
  RecordQueue(long batchBytesMax) {
    this.batchBytesMax = batchBytesMax;
  }

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

  boolean isEmpty() {
    return queue.isEmpty();
  }

  /** Bytes of the records that wait, and of batches taken that have not completed. */
  long bytes() {
    return bytes;
  }

  /** The next batch. */
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

  /** A batch of {@code batchBytes} has completed. */
  void completed(long batchBytes) {
    bytes -= batchBytes;
  }

  /** Removes and returns all records. */
  List<WaitingRecord> clear() {
    List<WaitingRecord> all = List.copyOf(queue);
    queue.clear();
    waitingBytes = 0;
    due = false;
    return all;
  }
}
