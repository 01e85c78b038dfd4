package io.stele.client;

import io.stele.model.Bytes;
import io.stele.model.RowRange;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.SortedSet;

/**
 * Rows still to be read: ranges in ascending order that neither overlap nor touch. Immutable.
 *
 * @param ranges the ranges; none: nothing
 */
record RowRanges(List<RowRange> ranges) {
  /**
   * How many ranges to return.
   *
   * @param count at most so many
   * @param bytes of their first rows and ends, at most; but one range in any case
   */
  record Most(int count, long bytes) {
    static final Most ALL = new Most(Integer.MAX_VALUE, Long.MAX_VALUE);
  }

  /** The rows of any of {@code ranges}; all rows where there is no range. */
  static RowRanges of(List<RowRange> ranges) {
    if (ranges.isEmpty()) {
      return new RowRanges(List.of(RowRange.ALL));
    }
    List<RowRange> sorted = new ArrayList<>(ranges);
    sorted.removeIf(RowRange::isEmpty);
    sorted.sort(Comparator.comparing(RowRange::start));
    List<RowRange> merged = new ArrayList<>();
    for (RowRange range : sorted) {
      RowRange last = merged.isEmpty() ? null : merged.get(merged.size() - 1);
      if (last == null || !(last.end().isEmpty() || range.start().compareTo(last.end()) <= 0)) {
        merged.add(range);
      } else if (!last.covers(range)) {
        merged.set(merged.size() - 1, new RowRange(last.start(), range.end()));
      }
    }
    return new RowRanges(List.copyOf(merged));
  }

  boolean isEmpty() {
    return ranges.isEmpty();
  }

  /** The first row there may be. */
  Bytes first() {
    return ranges.get(0).start();
  }

  /** What is left from {@code row} on; nothing for the empty row, which is the end. */
  RowRanges from(Bytes row) {
    if (row.isEmpty()) {
      return new RowRanges(List.of());
    }
    List<RowRange> rest = notBefore(row);
    return rest.isEmpty() || row.compareTo(rest.get(0).start()) <= 0
        ? new RowRanges(rest) // Without a copy: a read of many keys does this for each page.
        : within(new RowRange(row, Bytes.EMPTY));
  }

  /** The ranges that do not end before {@code row}. */
  private List<RowRange> notBefore(Bytes row) {
    int from = 0;
    int to = ranges.size();
    while (from < to) {
      int middle = (from + to) >>> 1;
      if (ranges.get(middle).isBeforeEnd(row)) {
        to = middle;
      } else {
        from = middle + 1;
      }
    }
    return ranges.subList(from, ranges.size());
  }

  /** What lies within {@code rows}. */
  RowRanges within(RowRange rows) {
    return within(rows, Most.ALL);
  }

  /** The first ranges that lie within {@code rows}: at most these, and at least one. */
  RowRanges within(RowRange rows, Most most) {
    List<RowRange> within = new ArrayList<>();
    long bytes = 0;
    for (RowRange range : notBefore(rows.start())) {
      Optional<RowRange> part = range.intersection(rows);
      if (part.isPresent()) {
        bytes += (long) part.get().start().length() + part.get().end().length();
        if (!within.isEmpty() && (within.size() == most.count || bytes > most.bytes)) {
          break;
        }
        within.add(part.get());
      } else if (!rows.isBeforeEnd(range.start())) {
        break;
      }
    }
    return new RowRanges(List.copyOf(within));
  }

  /**
   * These rows, divided: what lies between two neighbouring {@code cuts} is one part, if there is
   * any. There are no more ranges in all parts than there are ranges and cuts.
   *
   * @param cuts ascending
   */
  List<RowRanges> dividedAt(SortedSet<Bytes> cuts) {
    List<RowRanges> parts = new ArrayList<>();
    List<RowRange> part = new ArrayList<>();
    List<Bytes> ascending = List.copyOf(cuts);
    int next = 0;
    for (RowRange range : ranges) {
      Bytes start = range.start();
      for (; next < ascending.size() && range.isBeforeEnd(ascending.get(next)); next++) {
        Bytes cut = ascending.get(next);
        if (cut.compareTo(start) > 0) {
          part.add(new RowRange(start, cut));
          start = cut;
        }
        endPart(part, parts);
      }
      part.add(new RowRange(start, range.end()));
    }
    endPart(part, parts);
    return parts;
  }

  private static void endPart(List<RowRange> part, List<RowRanges> parts) {
    if (!part.isEmpty()) {
      parts.add(new RowRanges(List.copyOf(part)));
      part.clear();
    }
  }

  /** From the first to the last of these rows. */
  RowRange span() {
    return new RowRange(first(), end());
  }

  /** Where these rows end; empty: they go on to the table's end. */
  Bytes end() {
    return ranges.get(ranges.size() - 1).end();
  }
}
