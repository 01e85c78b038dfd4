package io.stele.log;

import io.stele.model.TabletId;
import java.time.Duration;
import java.util.Collections;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The oldest segment of a log that a tablet needs, and the reasons why it, and all segments after
 * it, cannot be deleted.
 *
 * @param segment its number
 * @param tablets the tablets that still need it, with the highest sequence number each has in it: a
 *     minor compaction up to there, and its {@link CommitLog#release}, lets it go
 * @param age how long ago the oldest of the records still needed may have been written
 * @param beingWritten whether records are still written to it, so that it stays even when no tablet
 *     needs it; {@link CommitLog#roll} ends that
 * @param segments how many segments with records there are from it on
 * @param bytes how many bytes these have
 */
public record OldestNeeded(
    long segment,
    SortedMap<TabletId, Long> tablets,
    Duration age,
    boolean beingWritten,
    int segments,
    long bytes) {
  public OldestNeeded {
    tablets = Collections.unmodifiableSortedMap(new TreeMap<>(tablets)); // In a fixed order.
  }
}
