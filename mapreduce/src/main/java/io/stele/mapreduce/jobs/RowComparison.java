package io.stele.mapreduce.jobs;

import io.stele.model.Bytes;
import io.stele.model.Row;
import java.io.IOException;
import java.util.Locale;
import java.util.Optional;

/** Compares two sequences of rows, both in ascending order, cell by cell. */
final class RowComparison {
  /** How a row compares; a counter of jobs. */
  enum Outcome {
    /** In both, with the same cells. */
    SAME,
    /** In both, with other cells. */
    DIFFERENT,
    /** Only in the first sequence. */
    ONLY_IN_FIRST,
    /** Only in the second sequence. */
    ONLY_IN_SECOND;

    /** Names {@code row} as one that compares so. */
    String line(Bytes row) {
      return name().toLowerCase(Locale.ROOT).replace('_', ' ') + ": " + row;
    }
  }

  /** Where rows come from. */
  @FunctionalInterface
  interface Source {
    /** The next row, or none at the end. */
    Optional<Row> next() throws IOException, InterruptedException;
  }

  /** Is told of each row. */
  @FunctionalInterface
  interface Listener {
    /** {@code row} compares so. */
    void compared(Outcome outcome, Bytes row) throws IOException, InterruptedException;
  }

  private RowComparison() {}

  /** Reads both to their ends. */
  static void run(Source firstRows, Source secondRows, Listener listener)
      throws IOException, InterruptedException {
    Optional<Row> first = firstRows.next();
    Optional<Row> second = secondRows.next();
    while (first.isPresent() || second.isPresent()) {
      int order = order(first, second);
      if (order < 0) {
        listener.compared(Outcome.ONLY_IN_FIRST, first.orElseThrow().key());
      } else if (order > 0) {
        listener.compared(Outcome.ONLY_IN_SECOND, second.orElseThrow().key());
      } else {
        Outcome outcome = first.equals(second) ? Outcome.SAME : Outcome.DIFFERENT;
        listener.compared(outcome, first.orElseThrow().key());
      }
      first = order <= 0 ? firstRows.next() : first;
      second = order >= 0 ? secondRows.next() : second;
    }
  }

  /** Which row comes first; what is not there comes last. */
  private static int order(Optional<Row> first, Optional<Row> second) {
    if (first.isEmpty() || second.isEmpty()) {
      return first.isPresent() ? -1 : 1;
    }
    return first.get().key().compareTo(second.get().key());
  }
}
