package io.stele.log;

import io.stele.model.TabletId;
import java.util.Map;

/**
 * What keeps the oldest segment of a log from being deleted.
 *
 * @param segment its number
 * @param tablets the tablets that still need it, with the highest sequence number each has in it: a
 *     minor compaction up to there, and its {@link CommitLog#release}, lets it go
 * @param segments how many segments the log has, the one being written included
 * @param bytes how many bytes they have
 */
public record OldestNeeded(long segment, Map<TabletId, Long> tablets, int segments, long bytes) {
  public OldestNeeded {
    tablets = Map.copyOf(tablets);
  }
}
