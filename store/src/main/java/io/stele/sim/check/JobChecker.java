package io.stele.sim.check;

import io.stele.model.Bytes;
import io.stele.model.Cell;
import io.stele.model.Row;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Whether the files of jobs became visible all at once, once, and never where the job did not
 * commit. A job writes to each of its rows a column in each of two families, whose qualifier is its
 * name; nobody else writes these.
 *
 * <ul>
 *   <li>A row has both columns of a job, or none.
 *   <li>Nobody sees a column of a job before its commit began, in another row, or when the job
 *       certainly did not commit.
 *   <li>A read that begins after somebody has seen a column of a job, or its commit was answered,
 *       sees those of every other row, unless that was deleted meanwhile.
 *   <li>What was deleted after that does not come back.
 * </ul>
 */
public final class JobChecker {
  /**
   * A job.
   *
   * @param name the qualifier of its columns
   * @param rows those that it writes
   * @param commit the call that commits it
   */
  public record Job(String name, Set<Bytes> rows, Call commit) {}

  /** What a read saw of one row. */
  private record Sight(Call call, Set<String> jobs) {}

  private static final int FAMILIES = 2;

  private final Map<Bytes, List<Sight>> sights = new HashMap<>();
  private final Map<Bytes, List<Call>> deletes = new HashMap<>();
  private final Map<String, Job> jobs = new TreeMap<>();
  private final Findings findings = new Findings("jobs");

  private JobChecker(List<Call> calls, List<Job> jobs) {
    jobs.forEach(job -> this.jobs.put(job.name(), job));
    Set<Bytes> rows = new HashSet<>();
    jobs.forEach(job -> rows.addAll(job.rows()));
    for (Call call : calls) {
      if (call.action() instanceof Action.Delete delete && !call.isRejected()) {
        deletes.computeIfAbsent(delete.row(), row -> new ArrayList<>()).add(call);
      }
      if (call.outcome() instanceof CallOutcome.Answered answer
          && answer.result() instanceof Result.Rows seen
          && seen.cutShort().isEmpty()) {
        see(call, seen, rows);
      }
    }
  }

  /** What is wrong with the reads and scans of {@code calls}. */
  public static List<Violation> check(List<Call> calls, List<Job> jobs) {
    JobChecker checker = new JobChecker(calls, jobs);
    checker.sights.forEach((row, seen) -> seen.forEach(sight -> checker.checkPlace(row, sight)));
    checker.jobs.values().forEach(checker::check);
    return checker.findings.violations();
  }

  private void see(Call call, Result.Rows seen, Set<Bytes> rows) {
    Map<Bytes, Row> found = new HashMap<>();
    seen.rows().forEach(row -> found.put(row.key(), row));
    for (Bytes row : rows) {
      boolean asked =
          call.action() instanceof Action.Scan scan
              ? scan.range().contains(row) && scan.limit() == Long.MAX_VALUE
              : call.action() instanceof Action.Read read && read.row().equals(row);
      if (asked) {
        Map<String, Integer> columns = new TreeMap<>();
        if (found.containsKey(row)) {
          for (Cell cell : found.get(row).cells()) {
            String name = cell.qualifier().toUtf8();
            if (jobs.containsKey(name)) {
              columns.merge(name, 1, Integer::sum);
            }
          }
        }
        columns.forEach(
            (job, count) -> {
              if (count != FAMILIES) {
                findings.add(call + " saw " + count + " columns of " + job + " in row " + row);
              }
            });
        sights
            .computeIfAbsent(row, one -> new ArrayList<>())
            .add(new Sight(call, columns.keySet()));
      }
    }
  }

  private void checkPlace(Bytes row, Sight sight) {
    for (String name : sight.jobs()) {
      Job job = jobs.get(name);
      if (job == null) {
        continue;
      }
      if (!job.rows().contains(row)) {
        findings.add(sight.call() + " saw " + name + " in row " + row + ", where it wrote nothing");
      }
      if (job.commit().isRejected()) {
        findings.add(sight.call() + " saw " + name + ", which did not commit: " + job.commit());
      }
      if (sight.call().isBefore(job.commit())) {
        findings.add(sight.call() + " saw " + name + " before " + job.commit());
      }
    }
  }

  private void check(Job job) {
    Moment visible = job.commit().isAnswered() ? job.commit().end() : Moment.NEVER;
    for (Bytes row : job.rows()) {
      for (Sight sight : sights.getOrDefault(row, List.of())) {
        if (sight.jobs().contains(job.name()) && sight.call().end().order() < visible.order()) {
          visible = sight.call().end();
        }
      }
    }
    if (visible.equals(Moment.NEVER)) {
      return;
    }
    for (Bytes row : job.rows()) {
      checkRow(job, row, visible);
    }
  }

  /** From {@code visible} on everybody sees the job's columns in {@code row}, until a delete. */
  private void checkRow(Job job, Bytes row, Moment visible) {
    List<Call> ofRow = deletes.getOrDefault(row, List.of());
    for (Sight sight : sights.getOrDefault(row, List.of())) {
      Call read = sight.call();
      if (read.start().order() < visible.order()) {
        continue;
      }
      boolean seen = sight.jobs().contains(job.name());
      boolean mayBeDeleted =
          ofRow.stream()
              .anyMatch(
                  delete ->
                      delete.start().order() < read.end().order()
                          && (!delete.isAnswered() || !delete.isBefore(job.commit())));
      if (!seen && !mayBeDeleted) {
        findings.add(read + " did not see " + job.name() + " in row " + row + ": " + job.commit());
      }
      boolean isDeleted =
          ofRow.stream()
              .anyMatch(
                  delete ->
                      delete.isAnswered()
                          && delete.start().order() > visible.order()
                          && delete.isBefore(read));
      if (seen && isDeleted) {
        findings.add(read + " saw " + job.name() + " again in row " + row + " after a delete");
      }
    }
  }
}
