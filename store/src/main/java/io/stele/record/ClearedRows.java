package io.stele.record;

import io.stele.model.Bytes;
import io.stele.model.RowRange;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * Which rows of a tablet were cleared for the latest change of its table that cleared any. It is
 * part of the tablet's durable record, and of the records of what becomes of the tablet, so that a
 * row is cleared once for a change.
 *
 * @param change the number of the change, among those under the table's name; 0: there was none
 * @param rows the rows cleared for it, in order; no range overlaps or touches the next
 */
public record ClearedRows(long change, List<RowRange> rows) {
  /** Nothing was ever cleared. */
  public static final ClearedRows NONE = new ClearedRows(0, List.of());

  public ClearedRows {
    rows = List.copyOf(rows);
  }

  /** The same after {@code more} was cleared for {@code forChange}, which is not an earlier one. */
  public ClearedRows with(long forChange, List<RowRange> more) {
    List<RowRange> all = new ArrayList<>(forChange == change ? rows : List.of());
    all.addAll(more);
    return new ClearedRows(forChange, joined(all));
  }

  /** What a tablet has that is made of two, one of which has these and the other {@code other}. */
  public ClearedRows and(ClearedRows other) {
    if (change != other.change) {
      return change > other.change ? this : other; // That of the earlier change has ended.
    }
    List<RowRange> all = new ArrayList<>(rows);
    all.addAll(other.rows);
    return new ClearedRows(change, joined(all));
  }

  /** What was cleared for that change, as far as it is known. */
  public List<RowRange> of(long forChange) {
    return forChange == change ? rows : List.of();
  }

  /** The same in a tablet of {@code extent}. */
  public ClearedRows clipped(RowRange extent) {
    return new ClearedRows(
        change, rows.stream().flatMap(range -> range.intersection(extent).stream()).toList());
  }

  /** Which rows of {@code wanted} are still to be cleared for {@code forChange}. */
  public List<RowRange> left(long forChange, RowRange wanted) {
    if (forChange < change) {
      return List.of(); // It has ended: changes follow each other.
    }
    List<RowRange> left = new ArrayList<>(List.of(wanted));
    if (forChange == change) {
      for (RowRange done : rows) {
        left = left.stream().flatMap(range -> without(range, done).stream()).toList();
      }
    }
    return List.copyOf(left);
  }

  /** The rows of {@code range} on both sides of {@code hole}. */
  public static List<RowRange> without(RowRange range, RowRange hole) {
    if (range.intersection(hole).isEmpty()) {
      return List.of(range);
    }
    List<RowRange> sides = new ArrayList<>();
    if (range.start().compareTo(hole.start()) < 0) {
      sides.add(new RowRange(range.start(), hole.start()));
    }
    Bytes end = hole.end();
    if (!end.isEmpty() && range.isBeforeEnd(end)) {
      sides.add(new RowRange(end, range.end()));
    }
    return sides;
  }

  private static List<RowRange> joined(List<RowRange> ranges) {
    List<RowRange> joined = new ArrayList<>();
    ranges.stream()
        .sorted(Comparator.comparing(RowRange::start))
        .forEach(
            range -> {
              Optional<RowRange> last =
                  joined.isEmpty() ? Optional.empty() : Optional.of(joined.get(joined.size() - 1));
              if (last.isEmpty() || isApart(last.get(), range)) {
                joined.add(range);
              } else if (!last.get().covers(range)) {
                joined.set(joined.size() - 1, new RowRange(last.get().start(), range.end()));
              }
            });
    return joined;
  }

  private static boolean isApart(RowRange lower, RowRange upper) {
    return !lower.end().isEmpty() && lower.end().compareTo(upper.start()) < 0;
  }
}
