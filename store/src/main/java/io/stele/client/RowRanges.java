package io.stele.client;

import io.stele.model.Bytes;
import io.stele.model.RowRange;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

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

  /** Where these rows end; empty: they go on to the table's end. */
  Bytes end() {
    return ranges.get(ranges.size() - 1).end();
  }
}
