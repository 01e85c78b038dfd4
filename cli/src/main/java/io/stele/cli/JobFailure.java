package io.stele.cli;

import java.io.IOException;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.TaskCompletionEvent;
import org.apache.hadoop.util.StringUtils;

/** Why a job failed, in one line: MapReduce itself names the task that failed, but no reason. */
public final class JobFailure {
  private static final int EVENTS_AT_ONCE = 1000;
  private static final String CAUSE = "Caused by: ";
  private static final String NONE = "NA"; // As JobStatus has it.

  private JobFailure() {}

  /** Why {@code job} failed, which a cluster has run. */
  public static String of(Job job) throws IOException, InterruptedException {
    return ofCluster(job).orElse("no reason was reported; see the job's logs");
  }

  /**
   * Why {@code job} failed.
   *
   * @param local where the local runner says it
   */
  static String of(Job job, LocalRunnerLog local) throws IOException, InterruptedException {
    Optional<String> said = ofCluster(job);
    if (said.isPresent()) {
      return said.get();
    }
    return local
        .failure()
        .map(failure -> line(StringUtils.stringifyException(failure)))
        .orElse("the reason is only in the log: use --verbose to see it");
  }

  private static Optional<String> ofCluster(Job job) throws IOException, InterruptedException {
    String said = job.getStatus().getFailureInfo().strip();
    Optional<String> attempt = ofAttempt(job, said);
    return attempt.isPresent() || said.isEmpty() || said.equals(NONE)
        ? attempt
        : Optional.of(line(said));
  }

  /** What the first failed attempt of the task that {@code said} blames said, or of any task. */
  private static Optional<String> ofAttempt(Job job, String said) throws InterruptedException {
    boolean blamesATask = said.contains("task_");
    if (!blamesATask && !said.isEmpty() && !said.equals(NONE)) {
      return Optional.empty(); // Such as its commit: then what attempts said is not the reason.
    }
    try {
      int seen = 0;
      while (true) {
        TaskCompletionEvent[] events = job.getTaskCompletionEvents(seen, EVENTS_AT_ONCE);
        for (TaskCompletionEvent event : events) {
          TaskAttemptID attempt = event.getTaskAttemptId();
          if (hasFailed(event) && (!blamesATask || said.contains("" + attempt.getTaskID()))) {
            String text = String.join("\n", job.getTaskDiagnostics(attempt)).strip();
            return Optional.of(attempt + ": " + line(text)).filter(reason -> !text.isEmpty());
          }
        }
        if (events.length == 0) {
          return Optional.empty();
        }
        seen += events.length;
      }
    } catch (IOException e) {
      return Optional.empty(); // Whoever knew has gone, and there is no history server.
    }
  }

  private static boolean hasFailed(TaskCompletionEvent event) {
    return event.getStatus() == TaskCompletionEvent.Status.FAILED
        || event.getStatus() == TaskCompletionEvent.Status.TIPFAILED;
  }

  /** The first line of a stack trace, and that of its root cause if the first does not tell it. */
  static String line(String trace) {
    List<String> lines = trace.strip().lines().toList();
    String first = lines.isEmpty() ? "" : lines.get(0).replaceFirst("^Error: ", "").strip();
    String root =
        lines.stream()
            .filter(line -> line.startsWith(CAUSE))
            .reduce("", (one, next) -> next.substring(CAUSE.length()).strip());
    if (root.isEmpty()) {
      return first;
    }
    return first.contains(root) ? root : first + "; because: " + root;
  }
}
