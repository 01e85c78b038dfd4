package io.stele.sim.check;

import io.stele.model.Bytes;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * All that clients did to one row by {@link Action.Write} and {@link Action.Delete}, to tell what a
 * read of it may see: no value that was never written, and none that was replaced before the read
 * began. Not thread-safe.
 */
final class RowVersions {
  /** Of a row that nobody ever changed. */
  static final RowVersions NONE = new RowVersions(List.of());

  private static final long BEFORE_ALL = -1;

  /** In the order of their beginnings. */
  private final List<Call> changes;

  /** The changes after which the row has a value; empty: after which there is no row. */
  private final Map<Optional<Bytes>, List<Call>> byValue = new HashMap<>();

  /** The first end among the acknowledged of the changes from each on. */
  private final long[] firstEnds;

  private RowVersions(List<Call> changes) {
    this.changes = changes;
    this.firstEnds = new long[changes.size()];
    long first = Long.MAX_VALUE;
    for (int i = changes.size() - 1; i >= 0; i--) {
      Call change = changes.get(i);
      if (change.isAnswered()) {
        first = Math.min(first, change.end().order());
      }
      firstEnds[i] = first;
      // The last first: a read mostly sees one of the last that began before it.
      byValue.computeIfAbsent(valueAfter(change), value -> new ArrayList<>(1)).add(change);
    }
  }

  /** The versions of each row, by row key. */
  static SortedMap<Bytes, RowVersions> of(List<Call> calls) {
    SortedMap<Bytes, List<Call>> changes = new TreeMap<>();
    for (Call call : calls) {
      if (call.action() instanceof Action.Write write) {
        changes.computeIfAbsent(write.row(), row -> new ArrayList<>()).add(call);
      } else if (call.action() instanceof Action.Delete delete) {
        changes.computeIfAbsent(delete.row(), row -> new ArrayList<>()).add(call);
      }
    }
    SortedMap<Bytes, RowVersions> rows = new TreeMap<>();
    changes.forEach(
        (row, ofRow) -> {
          // Workloads may give calls in another order: those of clients, then those of jobs.
          ofRow.sort(Comparator.comparingLong(change -> change.start().order()));
          rows.put(row, new RowVersions(ofRow));
        });
    return rows;
  }

  /**
   * Why {@code read} cannot have seen this, if it cannot.
   *
   * @param seen the row's value; empty if the row was not there
   */
  Optional<String> fault(Optional<Bytes> seen, Call read) {
    Optional<Call> replacing = Optional.empty();
    if (seen.isEmpty()) {
      replacing = replacing(BEFORE_ALL, read); // At first there is no row.
      if (replacing.isEmpty()) {
        return Optional.empty();
      }
    }
    String impossible = "what nobody wrote";
    for (Call change : byValue.getOrDefault(seen, List.of())) {
      if (change.isRejected()) {
        impossible = "what was rejected: " + change;
      } else if (read.isBefore(change)) {
        impossible = "what was written later: " + change;
      } else {
        replacing = replacing(change.end().order(), read);
        if (replacing.isEmpty()) {
          return Optional.empty();
        }
      }
    }
    return Optional.of(replacing.map(by -> "what " + by + " had replaced").orElse(impossible));
  }

  /** A change begun after {@code order} and acknowledged before {@code read} began. */
  private Optional<Call> replacing(long order, Call read) {
    int from = firstBegunAfter(order);
    if (from == changes.size() || firstEnds[from] >= read.start().order()) {
      return Optional.empty();
    }
    return changes.subList(from, changes.size()).stream()
        .filter(change -> change.isAnswered() && change.isBefore(read))
        .findFirst();
  }

  private int firstBegunAfter(long order) {
    int low = 0;
    int high = changes.size();
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (changes.get(middle).start().order() > order) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  }

  private static Optional<Bytes> valueAfter(Call change) {
    return change.action() instanceof Action.Write write
        ? Optional.of(write.value())
        : Optional.empty();
  }
}
