package io.stele.log;

import io.stele.model.TabletId;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.apache.hadoop.fs.Path;

/**
 * Which tablets need which segments of a log: for every segment the highest sequence number of
 * every tablet with records in it that are not in SSTables yet.
 *
 * <p>Segments go from the old end only, so that what is left has no gaps. Safe for use by any
 * number of threads.
 */
final class SegmentLedger {
  private static final class Entry {
    final long number;
    final Path path;
    final Map<TabletId, Long> highest = new HashMap<>();
    long bytes;

    Entry(long number, Path path) {
      this.number = number;
      this.path = path;
    }
  }

  private final Deque<Entry> entries =
      new ArrayDeque<>(); // Oldest first; the last is being written.

  /**
   * A segment is about to be created; the one before it is written no more. Where the creation
   * fails it stays here, as a file may be there all the same.
   */
  synchronized void opening(long number, Path path) {
    entries.addLast(new Entry(number, path));
  }

  /** A record is about to be written to the newest segment. */
  synchronized void writing(TabletId tablet, long sequence) {
    entries.getLast().highest.merge(tablet, sequence, Math::max);
  }

  /** How long the newest segment is. */
  synchronized void grown(long bytes) {
    entries.getLast().bytes = bytes;
  }

  /** Everything of {@code tablet} up to {@code sequence} is in SSTables that METADATA names. */
  synchronized void release(TabletId tablet, long sequence) {
    for (Entry entry : entries) {
      entry.highest.computeIfPresent(tablet, (id, highest) -> highest <= sequence ? null : highest);
    }
  }

  /** The oldest segment, if nobody needs it and it is not being written: it may be deleted. */
  synchronized Optional<Path> unneeded() {
    return entries.size() > 1 && entries.getFirst().highest.isEmpty()
        ? Optional.of(entries.getFirst().path)
        : Optional.empty();
  }

  /** The oldest segment was deleted. */
  synchronized void deleted() {
    entries.removeFirst();
  }

  /** What keeps the oldest segment; empty where only the one being written is left. */
  synchronized Optional<OldestNeeded> oldest() {
    if (entries.size() < 2) {
      return Optional.empty();
    }
    Entry oldest = entries.getFirst();
    long bytes = 0;
    for (Entry entry : entries) {
      bytes += entry.bytes;
    }
    return Optional.of(new OldestNeeded(oldest.number, oldest.highest, entries.size(), bytes));
  }
}
