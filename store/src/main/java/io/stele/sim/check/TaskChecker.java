package io.stele.sim.check;

import io.stele.model.Bytes;
import io.stele.model.Cell;
import io.stele.model.Row;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/**
 * Whether each record of a task counted once, however many attempts wrote it, and in order in its
 * row. A task has a column of its name in two families: in {@link #PUTS} a version for each record
 * that is a put, in {@link #APPENDS} what those that are appends wrote, one after the other.
 *
 * <p>A row has the first records of those that a task writes to it; all, if an attempt of the task
 * ended well.
 */
public final class TaskChecker {
  /** The family of records that are puts. */
  public static final String PUTS = "p";

  /** The family of records that are appends, each with a comma behind it. */
  public static final String APPENDS = "a";

  private TaskChecker() {}

  /**
   * One record.
   *
   * @param put whether it is a put; otherwise it is an append
   */
  public record Written(Bytes row, long number, boolean put) {}

  /**
   * A task.
   *
   * @param name its column
   * @param done whether an attempt ended well
   */
  public record Task(String name, List<Written> records, boolean done) {}

  /** What is wrong with what was read back of {@code rows}. */
  public static List<Violation> check(List<Row> rows, List<Task> tasks) {
    Findings findings = new Findings("tasks");
    Map<Bytes, Row> found = new HashMap<>();
    rows.forEach(row -> found.put(row.key(), row));
    for (Task task : tasks) {
      Map<Bytes, List<Written>> byRow = new HashMap<>();
      task.records()
          .forEach(one -> byRow.computeIfAbsent(one.row(), row -> new ArrayList<>()).add(one));
      byRow.forEach((row, expected) -> check(task, row, expected, found, findings));
    }
    return findings.violations();
  }

  private static void check(
      Task task, Bytes key, List<Written> expected, Map<Bytes, Row> rows, Findings findings) {
    List<Long> puts = new ArrayList<>();
    StringBuilder appends = new StringBuilder();
    if (rows.containsKey(key)) {
      for (Cell cell : rows.get(key).cells()) {
        if (cell.qualifier().toUtf8().equals(task.name())) {
          if (cell.family().equals(PUTS)) {
            puts.add(0, Long.parseLong(cell.value().toUtf8())); // The newest comes first.
          } else if (appends.isEmpty()) {
            appends.append(cell.value().toUtf8());
          }
        }
      }
    }
    String seen = "row " + key + " has " + puts + " and \"" + appends + "\" of task " + task.name();
    if (new TreeSet<>(puts).size() != puts.size()) {
      findings.add(seen + ": a put counted twice");
      return;
    }
    for (int applied = task.done() ? expected.size() : 0; applied <= expected.size(); applied++) {
      List<Long> wantedPuts = new ArrayList<>();
      StringBuilder wantedAppends = new StringBuilder();
      for (Written one : expected.subList(0, applied)) {
        if (one.put()) {
          wantedPuts.add(one.number());
        } else {
          wantedAppends.append(one.number()).append(',');
        }
      }
      if (wantedPuts.equals(puts) && wantedAppends.toString().contentEquals(appends)) {
        return;
      }
    }
    String whole = task.done() ? "all of " : "the first of ";
    findings.add(seen + ": not " + whole + expected);
  }
}
