package io.stele.log;

/**
 * What a commit log has done since it was opened.
 *
 * @param records records acknowledged
 * @param bytes bytes of acknowledged records
 * @param flushes flushes (hflush or hsync) that succeeded for records: one for each batch
 * @param segments segments begun
 * @param failures writes, flushes and segment creations that failed
 * @param queuedBytes bytes that wait now
 */
public record LogStatistics(
    long records, long bytes, long flushes, long segments, long failures, long queuedBytes) {}
