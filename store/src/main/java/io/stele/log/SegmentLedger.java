package io.stele.log;

import io.stele.model.TabletId;
import io.stele.runtime.ProcessRuntime;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
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
    // Unordered: each record that is written is looked up here, with the pipeline's lock held.
    final Map<TabletId, Written> written = new HashMap<>();
    int needed; // How many tablets need it.
    long bytes;
    long firstRecordNanos;
    boolean ended;
    boolean failed;

    void add(TabletId tablet, long sequence) {
      Written of = written.computeIfAbsent(tablet, one -> new Written(sequence));
      of.lowest = Math.min(of.lowest, sequence);
      of.highest = Math.max(of.highest, sequence);
      needed += of.isNeeded() ? 0 : 1;
      of.neededTo = Math.max(of.neededTo, sequence);
    }

    void release(TabletId tablet, long sequence) {
      Written of = written.get(tablet);
      if (of != null && of.isNeeded() && of.neededTo <= sequence) {
        of.neededTo = Written.NOT_NEEDED;
        needed--;
      }
    }

    /** The highest sequence number of each tablet that needs the segment. */
    SortedMap<TabletId, Long> needed() {
      SortedMap<TabletId, Long> highest = new TreeMap<>();
      written.forEach(
          (tablet, of) -> {
            if (of.isNeeded()) {
              highest.put(tablet, of.neededTo);
            }
          });
      return highest;
    }
  }

  /** What one tablet has in a segment. */
  private static final class Written {
    static final long NOT_NEEDED = -1;

    long lowest;
    long highest;

    /** The highest sequence number that is in no SSTable yet. */
    long neededTo = NOT_NEEDED;

    Written(long sequence) {
      this.lowest = sequence;
      this.highest = sequence;
    }

    boolean isNeeded() {
      return neededTo != NOT_NEEDED;
    }
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
    if (entry.needed == 0) {
      entry.firstRecordNanos = runtime.nanoTime();
    }
    for (WaitingRecord record : records) {
      entry.add(record.tablet, record.sequence);
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
    SortedMap<TabletId, SequenceRange> ranges = new TreeMap<>();
    entry.written.forEach(
        (tablet, of) -> ranges.put(tablet, new SequenceRange(of.lowest, of.highest)));
    entry.written.values().removeIf(of -> !of.isNeeded());
    return new SegmentSummary(ranges);
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
        tablets.addAll(entry.needed().keySet());
      }
    }
    return tablets;
  }

  /** Everything of {@code tablet} up to {@code sequence} is in SSTables that METADATA names. */
  synchronized void release(TabletId tablet, long sequence) {
    for (Entry entry : entries.values()) {
      entry.release(tablet, sequence);
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
  synchronized void unhold(String holder) {
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
      if (oldest.needed > 0) {
        Collection<Entry> kept = entries.tailMap(entry.getKey()).values();
        return Optional.of(
            new OldestNeeded(
                entry.getKey(),
                oldest.needed(),
                Duration.ofNanos(runtime.nanoTime() - oldest.firstRecordNanos),
                !oldest.ended,
                (int) kept.stream().filter(one -> one.bytes > 0).count(),
                kept.stream().mapToLong(one -> one.bytes).sum()));
      }
    }
    return Optional.empty();
  }

  private static boolean isUnneeded(Entry entry) {
    return entry.ended && entry.needed == 0;
  }
}
