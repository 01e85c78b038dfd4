package io.stele.sim.check;

import io.stele.model.Bytes;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * All that clients did to one row by {@link Action.Write} and {@link Action.Delete}, to tell what a
 * read of it may see: no value that was never written, and none that was replaced before the read
 * began. Not thread-safe.
 */
final class RowVersions {
  private static final long BEFORE_ALL = -1;

  private final List<Call> changes = new ArrayList<>();

  /** The versions of each row, by row key. */
  static SortedMap<Bytes, RowVersions> of(List<Call> calls) {
    SortedMap<Bytes, RowVersions> rows = new TreeMap<>();
    for (Call call : calls) {
      if (call.action() instanceof Action.Write write) {
        rows.computeIfAbsent(write.row(), row -> new RowVersions()).changes.add(call);
      } else if (call.action() instanceof Action.Delete delete) {
        rows.computeIfAbsent(delete.row(), row -> new RowVersions()).changes.add(call);
      }
    }
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
    for (Call change : changes) {
      if (!seen.equals(valueAfter(change))) {
        continue;
      }
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
    for (Call change : changes) {
      if (change.isAnswered() && change.isBefore(read) && change.start().order() > order) {
        return Optional.of(change);
      }
    }
    return Optional.empty();
  }

  private static Optional<Bytes> valueAfter(Call change) {
    return change.action() instanceof Action.Write write
        ? Optional.of(write.value())
        : Optional.empty();
  }
}
