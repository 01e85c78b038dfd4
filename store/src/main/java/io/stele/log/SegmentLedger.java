package io.stele.log;

import io.stele.model.TabletId;
import io.stele.runtime.ProcessRuntime;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The segments of a log, and which tablets need which. For every segment it has the highest
 * sequence number of every tablet with records in it that are not in SSTables yet. Records that a
 * switch of writers, or a failure, put into two segments are needed in both.
 *
 * <p>A segment may be deleted when no tablet and no named holder needs it, it is no longer written,
 * and all lower ones are deleted: so the remaining segments have no gaps. Safe for use by any
 * number of threads.
 */
final class SegmentLedger {
  private static final class Entry {
    final SortedMap<TabletId, Long> highest = new TreeMap<>();
    SortedMap<TabletId, SequenceRange> written = new TreeMap<>();
    long bytes;
    long firstRecordNanos;
    boolean ended;
    boolean failed;
  }

  private final ProcessRuntime runtime;
  private final TreeMap<Long, Entry> entries = new TreeMap<>();
  private final TreeMap<String, Long> holders = new TreeMap<>();
  private long lastNumber;

  SegmentLedger(ProcessRuntime runtime) {
    this.runtime = runtime;
  }

  /**
   * The number of a segment that is about to be created. If the creation fails, the number stays
   * here, because the file may exist anyway.
   */
  synchronized long opening() {
    entries.put(++lastNumber, new Entry());
    return lastNumber;
  }

  /** Records are about to be written to a segment. */
  synchronized void writing(long number, List<WaitingRecord> records) {
    Entry entry = entry(number);
    if (entry.highest.isEmpty()) {
      entry.firstRecordNanos = runtime.nanoTime();
    }
    for (WaitingRecord record : records) {
      entry.highest.merge(record.tablet, record.sequence, Math::max);
      entry.written.merge(
          record.tablet,
          new SequenceRange(record.sequence, record.sequence),
          (before, one) -> before.with(one.lowest()));
    }
  }

  /**
   * The tablets and sequence numbers that may have been written to a segment. Called once, when the
   * segment is no longer written. Empty if it was deleted because nobody needed it.
   */
  synchronized SegmentSummary takeSummary(long number) {
    Entry entry = entries.get(number);
    if (entry == null) {
      return SegmentSummary.EMPTY;
    }
    SegmentSummary summary = new SegmentSummary(entry.written);
    entry.written = new TreeMap<>();
    return summary;
  }

  /** Records the length of a segment. */
  synchronized void grown(long number, long bytes) {
    entry(number).bytes = bytes;
  }

  private Entry entry(long number) {
    return Objects.requireNonNull(entries.get(number), () -> "segment " + number + " is not open");
  }

  /** A segment has ended: it was closed, or abandoned with nothing more to acknowledge. */
  synchronized void ended(long number) {
    Entry entry = entries.get(number);
    if (entry != null) {
      entry.ended = true;
    }
  }

  /** Writing or closing a segment failed. It may be deleted by now. */
  synchronized void failed(long number) {
    Entry entry = entries.get(number);
    if (entry != null) {
      entry.failed = true;
    }
  }

  /** The tablets that need a segment of which writing or closing failed. */
  synchronized SortedSet<TabletId> inFailedSegments() {
    SortedSet<TabletId> tablets = new TreeSet<>();
    for (Entry entry : entries.values()) {
      if (entry.failed) {
        tablets.addAll(entry.highest.keySet());
      }
    }
    return tablets;
  }

  /** Everything of {@code tablet} up to {@code sequence} is in SSTables that METADATA names. */
  synchronized void release(TabletId tablet, long sequence) {
    for (Entry entry : entries.values()) {
      entry.highest.computeIfPresent(tablet, (id, highest) -> highest <= sequence ? null : highest);
    }
  }

  /**
   * Keeps segments for {@code holder}; replaces what it held before.
   *
   * @param from the oldest segment it needs
   * @return the oldest segment it now holds: a later one if some were already deleted
   */
  synchronized long hold(String holder, long from) {
    long oldest = entries.isEmpty() ? lastNumber + 1 : entries.firstKey();
    holders.put(holder, Math.max(from, oldest));
    return Math.max(from, oldest);
  }

  /** Stops keeping segments for {@code holder}. */
  synchronized void letGo(String holder) {
    holders.remove(holder);
  }

  /** The holders, and the oldest segment that each keeps. */
  synchronized SortedMap<String, Long> holders() {
    return new TreeMap<>(holders);
  }

  /** The segment that may be deleted next, if there is one. */
  synchronized Optional<Long> unneeded() {
    if (entries.isEmpty() || !isUnneeded(entries.firstEntry().getValue())) {
      return Optional.empty();
    }
    long first = entries.firstKey();
    return holders.values().stream().anyMatch(from -> from <= first)
        ? Optional.empty()
        : Optional.of(first);
  }

  /** A segment was deleted. */
  synchronized void deleted(long number) {
    entries.remove(number);
  }

  /** The oldest segment that a tablet needs, if there is one. */
  synchronized Optional<OldestNeeded> oldest() {
    for (Map.Entry<Long, Entry> entry : entries.entrySet()) {
      Entry oldest = entry.getValue();
      if (!oldest.highest.isEmpty()) {
        Collection<Entry> kept = entries.tailMap(entry.getKey()).values();
        return Optional.of(
            new OldestNeeded(
                entry.getKey(),
                oldest.highest,
                Duration.ofNanos(runtime.nanoTime() - oldest.firstRecordNanos),
                !oldest.ended,
                (int) kept.stream().filter(one -> one.bytes > 0).count(),
                kept.stream().mapToLong(one -> one.bytes).sum()));
      }
    }
    return Optional.empty();
  }

  private static boolean isUnneeded(Entry entry) {
    return entry.ended && entry.highest.isEmpty();
  }
}
