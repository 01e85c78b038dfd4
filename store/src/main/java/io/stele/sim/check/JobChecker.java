package io.stele.sim.check;

import io.stele.model.Bytes;
import io.stele.model.Cell;
import io.stele.model.Row;
import io.stele.model.RowRange;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Whether the files of jobs became visible all at once, once, and never where the job did not
 * commit. A job writes to each of its rows a column in each of two families, whose qualifier is its
 * name, and so is its value in the end; nobody else writes these.
 *
 * <ul>
 *   <li>A row has both columns of a job, or none, with the values that it wrote last.
 *   <li>Nobody sees a column of a job before its commit began, in another row, or when the job
 *       certainly did not commit.
 *   <li>A read that begins after somebody has seen a column of a job, or its commit was answered,
 *       sees those of every other row, unless that was deleted meanwhile.
 *   <li>What was deleted after that does not come back.
 *   <li>A job that replaces rows deletes all of them in that moment, but for what it writes itself.
 * </ul>
 */
public final class JobChecker {
  /**
   * A job.
   *
   * @param name the qualifier of its columns
   * @param rows those that it writes
   * @param commit the call that commits it
   * @param replaced rows that it replaces, if it does
   */
  public record Job(String name, Set<Bytes> rows, Call commit, Optional<RowRange> replaced) {}

  /** What is known of a job. */
  private static final class Known {
    final Job job;
    Moment visible; // From when on all must see it.

    Known(Job job, Moment visible) {
      this.job = job;
      this.visible = visible;
    }

    void isVisibleAt(Moment moment) {
      visible = moment.order() < visible.order() ? moment : visible;
    }

    /** Whether it may delete what others have in a row. */
    boolean replaces(Bytes row) {
      return job.replaced().isPresent()
          && job.replaced().get().contains(row)
          && !job.commit().isRejected();
    }

    /** That deletion: at some moment between the beginning of the commit and when all see it. */
    Call replacing(Bytes row) {
      return new Call(
          job.commit().number(),
          job.commit().client(),
          new Action.Delete(row),
          job.commit().start(),
          visible,
          0,
          visible.equals(Moment.NEVER)
              ? new CallOutcome.Unknown("nobody has seen it")
              : new CallOutcome.Answered(new Result.Done()));
    }
  }

  /** What a read saw of one row. */
  private record Sight(Call call, Set<String> jobs) {}

  private static final int FAMILIES = 2;

  private final Map<Bytes, List<Sight>> sights = new HashMap<>();
  private final Map<Bytes, List<Call>> deletes = new HashMap<>();
  private final Map<String, Job> jobs = new TreeMap<>();
  private final List<Known> known = new ArrayList<>();
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
    jobs.forEach(job -> known.add(new Known(job, seenFrom(job))));
    known.forEach(this::seeWhatIsMissing);
  }

  /** What is wrong with the reads and scans of {@code calls}. */
  public static List<Violation> check(List<Call> calls, List<Job> jobs) {
    JobChecker checker = new JobChecker(calls, jobs);
    checker.sights.forEach((row, seen) -> seen.forEach(sight -> checker.checkPlace(row, sight)));
    checker.known.forEach(checker::check);
    return checker.findings.violations();
  }

  /** What jobs did to the values of rows that they replaced: a call that deletes each of them. */
  public static List<Call> deletes(List<Call> calls, List<Job> jobs) {
    JobChecker checker = new JobChecker(calls, jobs);
    Set<Bytes> rows = new TreeSet<>();
    for (Call call : calls) {
      if (call.action() instanceof Action.Write write) {
        rows.add(write.row());
      }
    }
    List<Call> all = new ArrayList<>();
    for (Known job : checker.known) {
      rows.stream().filter(job::replaces).forEach(row -> all.add(job.replacing(row)));
    }
    return all;
  }

  /** Where only one job can have replaced what a read did not see, it had committed then. */
  private void seeWhatIsMissing(Known of) {
    for (Bytes row : of.job.rows()) {
      for (Sight sight : sights.getOrDefault(row, List.of())) {
        Call read = sight.call();
        if (read.start().order() < of.visible.order() || sight.jobs().contains(of.job.name())) {
          continue;
        }
        List<Known> others =
            known.stream()
                .filter(other -> other != of && other.replaces(row))
                .filter(other -> mayHide(other.replacing(row), of.job, read))
                .toList();
        boolean byClients =
            deletes.getOrDefault(row, List.of()).stream()
                .anyMatch(delete -> mayHide(delete, of.job, read));
        if (others.size() == 1 && !byClients) {
          others.get(0).isVisibleAt(read.end());
        }
      }
    }
  }

  private static boolean mayHide(Call delete, Job job, Call read) {
    return delete.start().order() < read.end().order()
        && (!delete.isAnswered() || !delete.isBefore(job.commit()));
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
              if (!cell.value().equals(cell.qualifier())) {
                findings.add(call + " saw a value of " + name + " that it wrote over: " + cell);
              }
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

  /** When the job was certainly committed. */
  private Moment seenFrom(Job job) {
    Moment from = job.commit().isAnswered() ? job.commit().end() : Moment.NEVER;
    for (Bytes row : job.rows()) {
      for (Sight sight : sights.getOrDefault(row, List.of())) {
        if (sight.jobs().contains(job.name()) && sight.call().end().order() < from.order()) {
          from = sight.call().end();
        }
      }
    }
    return from;
  }

  private void check(Known of) {
    if (of.visible.equals(Moment.NEVER)) {
      return;
    }
    for (Bytes row : of.job.rows()) {
      List<Call> ofRow = new ArrayList<>(deletes.getOrDefault(row, List.of()));
      for (Known other : known) {
        if (other != of && other.replaces(row)) {
          ofRow.add(other.replacing(row));
        }
      }
      for (Sight sight : sights.getOrDefault(row, List.of())) {
        if (sight.call().start().order() >= of.visible.order()) {
          check(of, row, sight, ofRow);
        }
      }
    }
  }

  /** Who reads after a job was visible sees its columns, until a delete, and then no more. */
  private void check(Known of, Bytes row, Sight sight, List<Call> deletesOfRow) {
    Call read = sight.call();
    String name = of.job.name();
    boolean seen = sight.jobs().contains(name);
    if (!seen && deletesOfRow.stream().noneMatch(delete -> mayHide(delete, of.job, read))) {
      findings.add(read + " did not see " + name + " in row " + row + ": " + of.job.commit());
    }
    for (Call delete : deletesOfRow) {
      if (seen
          && delete.isAnswered()
          && delete.start().order() > of.visible.order()
          && delete.isBefore(read)) {
        findings.add(read + " saw " + name + " again in row " + row + " after " + delete);
      }
    }
  }
}
