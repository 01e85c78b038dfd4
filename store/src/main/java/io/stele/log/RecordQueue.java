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
    return all;
  }
}
