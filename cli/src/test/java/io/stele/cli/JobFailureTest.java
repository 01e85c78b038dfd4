package io.stele.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.examples.NumbersInputFormat;
import io.stele.mapreduce.jobs.TableJob;
import io.stele.runtime.SystemRuntime;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.JobStatus;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.TaskCompletionEvent;
import org.apache.hadoop.mapreduce.TaskCompletionEvent.Status;
import org.apache.hadoop.mapreduce.lib.output.NullOutputFormat;
import org.apache.log4j.Level;
import org.apache.log4j.LogManager;
import org.apache.log4j.Logger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Why a job failed is said, whatever ran it. */
@Timeout(60)
class JobFailureTest {
  private static final String FULL =
      "Error: java.lang.RuntimeException: cannot map row \"a\"\n\tat io.stele.Some.map(Some.java)\n"
          + "Caused by: java.io.IOException: cannot write\n\tat io.stele.Some.write(Some.java)\n"
          + "Caused by: java.io.IOException: the disk is full\n\t... 7 more\n";

  @TempDir private Path scratch;

  /** A job that a cluster has run. */
  @SuppressWarnings("deprecation") // Of all constructors, tests can call only these.
  private static final class Ended extends Job {
    private final String said;
    private final List<TaskCompletionEvent> events;
    private final Map<String, String> diagnostics;

    Ended(String said, List<TaskCompletionEvent> events, Map<String, String> diagnostics)
        throws IOException {
      this.said = said;
      this.events = events;
      this.diagnostics = diagnostics;
    }

    @Override
    public JobStatus getStatus() {
      return new JobStatus() {
        @Override
        public String getFailureInfo() {
          return said;
        }
      };
    }

    /** Two at a time: whoever asks must ask again. */
    @Override
    public TaskCompletionEvent[] getTaskCompletionEvents(int from, int count) {
      return events
          .subList(from, Math.min(events.size(), from + 2))
          .toArray(TaskCompletionEvent[]::new);
    }

    @Override
    public String[] getTaskDiagnostics(TaskAttemptID attempt) {
      String text = diagnostics.getOrDefault(attempt.toString(), "");
      return text.isEmpty() ? new String[0] : new String[] {text};
    }
  }

  private static TaskCompletionEvent event(int task, int attempt, Status status) {
    TaskAttemptID id = TaskAttemptID.forName(attempt(task, attempt));
    return new TaskCompletionEvent(0, id, 0, true, status, "");
  }

  private static String attempt(int task, int attempt) {
    return "attempt_1600000000000_0001_m_00000" + task + "_" + attempt;
  }

  private static String reason(String said, List<TaskCompletionEvent> events) throws Exception {
    Map<String, String> diagnostics =
        Map.of(
            attempt(1, 0), "Container killed by the ApplicationMaster.\n",
            attempt(2, 0), FULL,
            attempt(2, 1), "Error: java.io.IOException: the file is there already\n");
    try (LocalRunnerLog local = new LocalRunnerLog(SystemRuntime.INSTANCE)) {
      return JobFailure.of(new Ended(said, events, diagnostics), local);
    }
  }

  private static final List<TaskCompletionEvent> EVENTS =
      List.of(
          event(0, 0, Status.SUCCEEDED),
          event(1, 0, Status.FAILED),
          event(1, 1, Status.SUCCEEDED),
          event(2, 0, Status.FAILED),
          event(2, 1, Status.TIPFAILED));

  @Test
  void ofTheTaskThatFailedTheFirstAttemptTellsWhy() throws Exception {
    String said = "Task failed task_1600000000000_0001_m_000002\nJob failed as tasks failed.\n";
    assertThat(reason(said, EVENTS))
        .isEqualTo(
            attempt(2, 0)
                + ": java.lang.RuntimeException: cannot map row \"a\"; because:"
                + " java.io.IOException: the disk is full");
  }

  @Test
  void whereNobodySaysWhichTaskFailedItIsTheFirstThatDid() throws Exception {
    assertThat(reason("NA", EVENTS))
        .isEqualTo(attempt(1, 0) + ": Container killed by the ApplicationMaster.");
  }

  @Test
  void whatFailedButNoTaskIsSaidAsItIs() throws Exception {
    assertThat(reason("Job commit failed: java.io.IOException: away\n\tat x.Y.z(Y)\n", EVENTS))
        .isEqualTo("Job commit failed: java.io.IOException: away");
    String unknown = "Task failed task_1600000000000_0001_m_000007\n";
    assertThat(reason(unknown, EVENTS)).isEqualTo(unknown.strip());
  }

  @Test
  void ofAJobThatAClusterHasRunTheLocalRunnerIsNotAsked() throws Exception {
    String said = "Task failed task_1600000000000_0001_m_000002\nJob failed as tasks failed.\n";
    Map<String, String> diagnostics = Map.of(attempt(2, 0), FULL);
    assertThat(JobFailure.of(new Ended(said, EVENTS, diagnostics)))
        .startsWith(attempt(2, 0))
        .endsWith("because: java.io.IOException: the disk is full");
    assertThat(JobFailure.of(new Ended("NA", List.of(), Map.of())))
        .contains("no reason was reported");
  }

  @Test
  void whereNobodyKnowsTheLogIsNamed() throws Exception {
    assertThat(reason("NA", List.of())).contains("--verbose");
  }

  /** Fails, and says why in its cause. */
  static final class FailingMapper
      extends Mapper<LongWritable, NullWritable, NullWritable, NullWritable> {
    @Override
    protected void map(LongWritable key, NullWritable value, Context context) {
      throw new IllegalStateException("cannot map it", new IOException("the disk is full"));
    }
  }

  /** A job of the local runner that fails. */
  private record Failing() implements TableJob {
    @Override
    public Job prepare(Configuration conf) throws IOException {
      Job job = Job.getInstance(conf, "fails");
      NumbersInputFormat.set(job, 1, 1);
      job.setMapperClass(FailingMapper.class);
      job.setNumReduceTasks(0);
      job.setOutputFormatClass(NullOutputFormat.class);
      return job;
    }

    @Override
    public Report report(Job finished) {
      throw new UnsupportedOperationException("it fails");
    }
  }

  @Test
  void theLocalRunnerTellsOnlyItsLogWhichIsReadWhetherOrNotItIsShown() {
    Configuration conf = new Configuration();
    conf.set("hadoop.tmp.dir", scratch.toString());
    Logger root = LogManager.getRootLogger();
    Level before = root.getLevel();
    for (Level level : List.of(Level.OFF, Level.INFO)) {
      root.setLevel(level);
      try {
        JobRun run =
            new JobRun(new PrintWriter(new StringWriter()), new PrintWriter(new StringWriter()));
        assertThatThrownBy(() -> run.run(new Failing(), conf))
            .hasMessageMatching(
                "job job_local\\d+_\\d+ failed: java.lang.Exception:"
                    + " java.lang.IllegalStateException: cannot map it; because:"
                    + " java.io.IOException: the disk is full");
      } finally {
        root.setLevel(before);
      }
    }
  }
}
