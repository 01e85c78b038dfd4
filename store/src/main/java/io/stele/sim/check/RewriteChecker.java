package io.stele.sim.check;

import io.stele.model.Bytes;
import io.stele.model.Cell;
import io.stele.model.Column;
import io.stele.model.Row;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Whether jobs that read values at a pin and write new ones replaced what they had read, and no
 * value that clients have put since. What one job does to the values of another is not judged.
 * Every value is put once; a job's is its name, in all rows that it read.
 *
 * <ul>
 *   <li>Once a job has committed, nobody sees a value that it had read in that row.
 *   <li>Where a value was put by a call that began after a job had pinned the rows, nobody who
 *       reads later sees the job's value.
 * </ul>
 */
public final class RewriteChecker {
  /** Begins the text of a call that pins the rows; the job's name follows. */
  public static final String PINS = "pins ";

  private static final String COMMITS = "commits ";

  /** A job whose commit was called. */
  private record Job(String name, Call pin, Call commit, Map<Bytes, Bytes> read) {}

  private final Column column;
  private final Map<String, Job> jobs = new HashMap<>();
  private final Map<Bytes, List<Call>> writes = new HashMap<>();
  private final Findings findings = new Findings("rewriting jobs");

  private RewriteChecker(List<Call> calls, Column column) {
    this.column = column;
    Map<String, Call> pins = new HashMap<>();
    for (Call call : calls) {
      if (call.action() instanceof Action.Other other && other.text().startsWith(PINS)) {
        pins.put(other.text().substring(PINS.length()), call);
      } else if (call.action() instanceof Action.Other other && other.text().startsWith(COMMITS)) {
        Job job = job(other.text().split(" "), pins, call);
        jobs.put(job.name(), job);
      } else if (call.action() instanceof Action.Write write && call.isAnswered()) {
        writes.computeIfAbsent(write.row(), row -> new ArrayList<>()).add(call);
      }
    }
  }

  /** The text of a call that commits a job, which has read these values of rows. */
  public static String commits(String job, Map<Bytes, Bytes> read) {
    StringBuilder text = new StringBuilder(COMMITS).append(job);
    read.forEach((row, value) -> text.append(' ').append(row).append('=').append(value));
    return text.toString();
  }

  private static Job job(String[] words, Map<String, Call> pins, Call commit) {
    Map<Bytes, Bytes> read = new HashMap<>();
    for (int i = 2; i < words.length; i++) {
      int equals = words[i].indexOf('=');
      read.put(Bytes.of(words[i].substring(0, equals)), Bytes.of(words[i].substring(equals + 1)));
    }
    Call pin = Optional.ofNullable(pins.get(words[1])).orElseThrow();
    return new Job(words[1], pin, commit, read);
  }

  /** What is wrong with the reads and scans of {@code calls}, which see one version of a column. */
  public static List<Violation> check(List<Call> calls, Column column) {
    RewriteChecker checker = new RewriteChecker(calls, column);
    for (Call call : calls) {
      if (call.outcome() instanceof CallOutcome.Answered answer
          && answer.result() instanceof Result.Rows seen) {
        seen.rows().forEach(row -> checker.check(call, row));
      }
    }
    return checker.findings.violations();
  }

  private void check(Call read, Row row) {
    Optional<Bytes> value = row.cell(column.family(), column.qualifier()).map(Cell::value);
    if (value.isEmpty()) {
      return;
    }
    for (Job job : jobs.values()) {
      if (job.commit().isAnswered()
          && job.commit().isBefore(read)
          && value.get().equals(job.read().get(row.key()))) {
        findings.add(
            read
                + " saw "
                + value.get()
                + " in row "
                + row.key()
                + ", which the job had read that"
                + " committed with "
                + job.commit());
      }
    }
    Job writer = jobs.get(value.get().toUtf8());
    if (writer == null) {
      return;
    }
    for (Call write : writes.getOrDefault(row.key(), List.of())) {
      if (writer.pin().isBefore(write) && write.isBefore(read)) {
        findings.add(
            read
                + " saw "
                + writer.name()
                + " in row "
                + row.key()
                + ", not "
                + write
                + ", which that job has not read");
      }
    }
  }
}
