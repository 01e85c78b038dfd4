package io.stele.log;

import java.time.Duration;

/**
 * Counters of a commit log since it was opened.
 *
 * @param records records acknowledged
 * @param bytes bytes of acknowledged records
 * @param flushes flushes (hflush or hsync) that acknowledged records: one for each batch
 * @param segments segments created, including the standby segment
 * @param switchOvers how often the log switched writers because a flush was slow
 * @param failures writes, flushes and segment creations that failed
 * @param queuedBytes bytes that wait now
 * @param flushMedian how long half of the last flushes took at most, from the first byte written to
 *     the acknowledgement by the file system; zero where there was none
 * @param flush99th how long 99 of 100 of the last flushes took at most
 */
public record LogStatistics(
    long records,
    long bytes,
    long flushes,
    long segments,
    long switchOvers,
    long failures,
    long queuedBytes,
    Duration flushMedian,
    Duration flush99th) {
  /** How many records shared a flush, on average. */
  public double recordsPerFlush() {
    return flushes == 0 ? 0 : (double) records / flushes;
  }

  /** How many bytes of records shared a flush, on average. */
  public double bytesPerFlush() {
    return flushes == 0 ? 0 : (double) bytes / flushes;
  }
}
