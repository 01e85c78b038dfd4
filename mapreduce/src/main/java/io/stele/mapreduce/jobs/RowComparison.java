package io.stele.mapreduce.jobs;

import io.stele.model.Bytes;
import io.stele.model.Cell;
import io.stele.model.Row;
import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.apache.hadoop.mapreduce.TaskInputOutputContext;

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
    ONLY_IN_SECOND
  }

  /**
   * A row that was compared.
   *
   * @param row its key
   * @param first its cells in the first sequence, if it is there
   * @param second its cells in the second sequence, if it is there
   */
  record Compared(Outcome outcome, Bytes row, Optional<Row> first, Optional<Row> second) {
    /**
     * Names the row and how it compares; for one that differs, the first cell that does.
     *
     * @param firstName what the first sequence is called
     * @param secondName what the second sequence is called
     */
    String line(String firstName, String secondName) {
      return switch (outcome) {
        case SAME -> "same: " + row;
        case DIFFERENT -> "different: " + row + "; " + difference(firstName, secondName);
        case ONLY_IN_FIRST -> "only in " + firstName + ": " + row;
        case ONLY_IN_SECOND -> "only in " + secondName + ": " + row;
      };
    }

    private String difference(String firstName, String secondName) {
      return difference(
          first.orElseThrow().cells(), second.orElseThrow().cells(), firstName, secondName);
    }

    private static String difference(
        List<Cell> first, List<Cell> second, String firstName, String secondName) {
      int i = 0;
      while (i < first.size() && i < second.size() && first.get(i).equals(second.get(i))) {
        i++;
      }
      String one = i < first.size() ? name(first.get(i)) : "no more cells";
      String other = i < second.size() ? name(second.get(i)) : "no more cells";
      return one.equals(other)
          ? "different values of " + one
          : one + " in " + firstName + ", " + other + " in " + secondName;
    }

    private static String name(Cell cell) {
      return cell.family() + ":" + cell.qualifier() + " @" + cell.timestampMicros();
    }
  }

  /** Where rows come from. */
  @FunctionalInterface
  interface Source {
    /** The next row, or none at the end. */
    Optional<Row> next() throws IOException, InterruptedException;

    /** The input of a task. */
    static Source input(TaskInputOutputContext<Bytes, Row, ?, ?> task) {
      return () -> task.nextKeyValue() ? Optional.of(task.getCurrentValue()) : Optional.empty();
    }
  }

  /** Is told of each row. */
  @FunctionalInterface
  interface Listener {
    /** Is called for each row of either sequence, in order. */
    void compared(Compared row) throws IOException, InterruptedException;
  }

  private RowComparison() {}

  /**
   * A line of a report.
   *
   * @param what they are, such as "the same"
   */
  static String line(long rows, String what) {
    return String.format(Locale.ROOT, "%,15d %s %s", rows, rows == 1 ? "row is" : "rows are", what);
  }

  /** Reads both to their ends. */
  static void run(Source firstRows, Source secondRows, Listener listener)
      throws IOException, InterruptedException {
    Optional<Row> first = firstRows.next();
    Optional<Row> second = secondRows.next();
    while (first.isPresent() || second.isPresent()) {
      int order = order(first, second);
      listener.compared(
          compared(order <= 0 ? first : Optional.empty(), order >= 0 ? second : Optional.empty()));
      first = order <= 0 ? firstRows.next() : first;
      second = order >= 0 ? secondRows.next() : second;
    }
  }

  private static Compared compared(Optional<Row> first, Optional<Row> second) {
    Outcome outcome =
        first.isEmpty()
            ? Outcome.ONLY_IN_SECOND
            : second.isEmpty()
                ? Outcome.ONLY_IN_FIRST
                : first.equals(second) ? Outcome.SAME : Outcome.DIFFERENT;
    return new Compared(outcome, first.or(() -> second).orElseThrow().key(), first, second);
  }

  /** Which row comes first; what is not there comes last. */
  private static int order(Optional<Row> first, Optional<Row> second) {
    if (first.isEmpty() || second.isEmpty()) {
      return first.isPresent() ? -1 : 1;
    }
    return first.get().key().compareTo(second.get().key());
  }
}
