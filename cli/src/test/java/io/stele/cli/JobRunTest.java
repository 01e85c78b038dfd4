package io.stele.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.examples.NumbersInputFormat;
import io.stele.mapreduce.jobs.TableJob;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.InputFormat;
import org.apache.hadoop.mapreduce.InputSplit;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.RecordReader;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.apache.hadoop.mapreduce.lib.output.NullOutputFormat;
import org.apache.hadoop.mapreduce.lib.output.TextOutputFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class JobRunTest {
  @TempDir private Path scratch;

  /** A job of the local runner that succeeds, and comes to {@code verdict}. */
  private record Judged(Verdict verdict) implements TableJob {
    @Override
    public Job prepare(Configuration conf) throws IOException {
      Job job = Job.getInstance(conf, "succeeds");
      NumbersInputFormat.set(job, 1, 1);
      job.setNumReduceTasks(0);
      job.setOutputFormatClass(NullOutputFormat.class);
      return job;
    }

    @Override
    public Report report(Job finished) {
      return new Report(verdict, List.of("it is " + verdict));
    }
  }

  @Test
  void scriptsCanTellADifferenceFromDamageAndFromAFailure() throws IOException {
    assertThat(exit(TableJob.Verdict.GOOD)).isZero();
    assertThat(exit(TableJob.Verdict.DIFFERENT)).isEqualTo(ExitCode.PROBLEMS.number());
    assertThat(exit(TableJob.Verdict.DAMAGED)).isEqualTo(ExitCode.CORRUPTION.number());
    assertThat(ExitCode.PROBLEMS.number()).isNotEqualTo(ExitCode.FAILED.number());
  }

  @Test
  void aJobThatGoesOnAfterTheCommandIsNamed() {
    assertThat(JobRun.leftAlone("job_1700000000000_0001"))
        .hasValueSatisfying(
            text ->
                assertThat(text).contains("continues", "`stele job kill job_1700000000000_0001`"));
    assertThat(JobRun.leftAlone("job_local1234_0001")).isEmpty();
  }

  /** Nobody knows whether it has ended: its ResourceManager does not answer. */
  private record Lost(AtomicBoolean cleaned) implements TableJob {
    @Override
    public Job prepare(Configuration conf) throws IOException {
      Job job = new LostJob(conf);
      NumbersInputFormat.set(job, 1, 1);
      job.setNumReduceTasks(0);
      job.setOutputFormatClass(NullOutputFormat.class);
      return job;
    }

    @Override
    public Report report(Job finished) {
      throw new IllegalStateException("it has not ended");
    }

    @Override
    public void cleanUp(Job job) {
      cleaned.set(true);
    }
  }

  private static final class LostJob extends Job {
    @SuppressWarnings("deprecation") // There is no other way to have a job of one's own.
    LostJob(Configuration conf) throws IOException {
      super(conf);
    }

    @Override
    public boolean isComplete() throws IOException {
      throw new IOException("no ResourceManager");
    }
  }

  @Test
  void theDirectoryOfAJobThatMayStillRunStays() {
    Configuration conf = new Configuration();
    conf.set("hadoop.tmp.dir", scratch.toString());
    AtomicBoolean cleaned = new AtomicBoolean();
    JobRun run =
        new JobRun(new PrintWriter(new StringWriter()), new PrintWriter(new StringWriter()));
    assertThatThrownBy(() -> run.run(new Lost(cleaned), conf))
        .hasMessageContaining("is not known: no ResourceManager");
    assertThat(cleaned).isFalse();
  }

  /** Input that cannot be planned; meanwhile another job has begun to write the same directory. */
  public static final class PlannedWhileAnotherWrites extends InputFormat<Object, Object> {
    @Override
    public List<InputSplit> getSplits(JobContext context) throws IOException {
      org.apache.hadoop.fs.Path written =
          new org.apache.hadoop.fs.Path(
              FileOutputFormat.getOutputPath(context), "_temporary/0/task_1/part-m-00000");
      written.getFileSystem(context.getConfiguration()).create(written).close();
      throw new IOException("it cannot be planned");
    }

    @Override
    public RecordReader<Object, Object> createRecordReader(
        InputSplit split, TaskAttemptContext context) {
      throw new UnsupportedOperationException("no split is read");
    }
  }

  @Test
  void aSubmissionThatFailsLeavesTheFilesOfAnotherJobOfTheSameDirectory() {
    Configuration conf = new Configuration();
    conf.set("hadoop.tmp.dir", scratch.resolve("tmp").toString());
    Path directory = scratch.resolve("export");
    JobRun run =
        new JobRun(new PrintWriter(new StringWriter()), new PrintWriter(new StringWriter()));
    assertThatThrownBy(() -> run.run(new Export(directory), conf))
        .hasMessageContaining("it cannot be planned");
    assertThat(directory.resolve("_temporary/0/task_1/part-m-00000")).exists();
  }

  /** A job that writes files to a directory. */
  private record Export(Path directory) implements TableJob {
    @Override
    public Job prepare(Configuration conf) throws IOException {
      Job job = Job.getInstance(conf, "export");
      job.setInputFormatClass(PlannedWhileAnotherWrites.class);
      job.setNumReduceTasks(0);
      job.setOutputFormatClass(TextOutputFormat.class);
      FileOutputFormat.setOutputPath(job, new org.apache.hadoop.fs.Path(directory.toUri()));
      return job;
    }

    @Override
    public Report report(Job finished) {
      throw new IllegalStateException("it does not begin");
    }
  }

  private int exit(TableJob.Verdict verdict) throws IOException {
    Configuration conf = new Configuration();
    conf.set("hadoop.tmp.dir", scratch.toString());
    StringWriter out = new StringWriter();
    JobRun run = new JobRun(new PrintWriter(out), new PrintWriter(new StringWriter()));
    int exit = run.run(new Judged(verdict), conf);
    assertThat(out.toString()).isEqualTo("it is " + verdict + System.lineSeparator());
    return exit;
  }
}
