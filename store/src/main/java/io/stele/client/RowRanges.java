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
    return row.isEmpty() ? new RowRanges(List.of()) : within(new RowRange(row, Bytes.EMPTY), -1);
  }

  /**
   * What lies within {@code rows}.
   *
   * @param most how many ranges to return at most, the first ones; negative: all
   */
  RowRanges within(RowRange rows, int most) {
    List<RowRange> within = new ArrayList<>();
    for (RowRange range : ranges) {
      Optional<RowRange> part = range.intersection(rows);
      if (part.isPresent()) {
        if (within.size() == most) {
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
