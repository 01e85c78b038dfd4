package io.stele.log;

/** What a log has done so far. Guarded by the lock of the {@link CommitPipeline}. */
final class LogCounters {
  private long records;
  private long bytes;
  private long flushes;
  private long segments;
  private long failures;

  /** A segment was created. */
  void created() {
    segments++;
  }

  /** A batch is as durable as asked. */
  void completed(BatchInFlight batch) {
    records += batch.records.size();
    bytes += batch.bytes;
    flushes += batch.records.isEmpty() ? 0 : 1;
  }

  /** A write, a flush or the creation of a segment failed. */
  void failed() {
    failures++;
  }

  LogStatistics statistics(SlowFlushes slowFlushes, long queuedBytes) {
    return new LogStatistics(
        records,
        bytes,
        flushes,
        segments,
        slowFlushes.switches(),
        failures,
        queuedBytes,
        slowFlushes.percentile(50),
        slowFlushes.percentile(99));
  }
}
