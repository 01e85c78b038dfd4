package io.stele.tablet;

import io.stele.log.CommitLog;
import io.stele.log.LogRecord;
import io.stele.model.TabletId;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * The commit log as one tablet sees it; in a server, {@link io.stele.log.CommitLog}. Safe for use
 * by any number of threads.
 */
public interface TabletLog {
  /** {@code log} as {@code tablet} sees it. */
  static TabletLog of(CommitLog log, TabletId tablet) {
    return new LogOfTablet(log, tablet);
  }

  /**
   * Queues a record and returns at once; the tablet calls it in the order of sequence numbers.
   *
   * <p>The future completes when the record is as durable as requested, on the log's thread. If it
   * fails, the futures of all later records of the tablet must fail too.
   *
   * @param need how durable it must be, and how soon
   */
  CompletableFuture<Void> append(LogRecord record, LogNeed need);

  /** Why the log accepts no more records now: the tablet then refuses with 'retry later'. */
  default Optional<String> refusal() {
    return Optional.empty();
  }

  /** The largest record that the log takes: a larger one is refused before it is queued. */
  default int recordBytesMax() {
    return LogRecord.BYTES_MAX;
  }

  /**
   * Tells the log that the tablet's records up to {@code sequence} are in SSTables that its
   * manifest names. Called by a compaction, without any lock that a read or write needs.
   */
  void release(long sequence);
}
