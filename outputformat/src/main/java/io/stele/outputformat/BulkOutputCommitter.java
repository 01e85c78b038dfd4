package io.stele.outputformat;

import io.stele.bulk.JobOutput;
import io.stele.client.JobRenewal;
import io.stele.client.Stele;
import java.io.IOException;
import java.util.Optional;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.JobStatus;
import org.apache.hadoop.mapreduce.OutputCommitter;
import org.apache.hadoop.mapreduce.TaskAttemptContext;

/**
 * Commits tasks by a list of their files, and the job by one request to the cluster. Each step may
 * be done again, by another ApplicationMaster too.
 */
final class BulkOutputCommitter extends OutputCommitter {
  private Optional<Kept> kept = Optional.empty();

  /** The job is kept alive as long as its ApplicationMaster runs. */
  private record Kept(Stele stele, JobRenewal renewal) {
    void end() {
      renewal.close();
      stele.close();
    }
  }

  private interface Work<T> {
    T with(JobOutput output) throws IOException;
  }

  private static <T> T with(JobContext context, Work<T> work) throws IOException {
    try (Stele stele = Stele.connect(context.getConfiguration())) {
      String job = BulkOutputFormat.job(context.getConfiguration());
      return work.with(new JobOutput(stele.jobs(), job));
    }
  }

  @Override
  public void setupJob(JobContext context) throws IOException {
    Stele stele = Stele.connect(context.getConfiguration());
    try {
      String job = BulkOutputFormat.job(context.getConfiguration());
      kept = Optional.of(new Kept(stele, stele.jobs().keep(job)));
    } catch (RuntimeException e) {
      stele.close();
      throw e;
    }
  }

  private void endKeeping() {
    kept.ifPresent(Kept::end);
    kept = Optional.empty();
  }

  @Override
  public void setupTask(TaskAttemptContext context) {}

  private static String attempt(TaskAttemptContext context) {
    return context.getTaskAttemptID().toString();
  }

  @Override
  public boolean needsTaskCommit(TaskAttemptContext context) throws IOException {
    return with(context, output -> output.isFinished(attempt(context)));
  }

  @Override
  public void commitTask(TaskAttemptContext context) throws IOException {
    with(
        context,
        output -> {
          output.publish(attempt(context), context.getTaskAttemptID().getTaskID().toString());
          return true;
        });
  }

  @Override
  public void abortTask(TaskAttemptContext context) throws IOException {
    with(
        context,
        output -> {
          output.discard(attempt(context));
          return true;
        });
  }

  @Override
  public void commitJob(JobContext context) throws IOException {
    with(
        context,
        output -> {
          output.commit();
          return true;
        });
    endKeeping();
  }

  @Override
  public void abortJob(JobContext context, JobStatus.State state) throws IOException {
    endKeeping();
    with(
        context,
        output -> {
          output.abort();
          return true;
        });
  }

  @Override
  public boolean isCommitJobRepeatable(JobContext context) {
    return true;
  }

  @Override
  public boolean isRecoverySupported(JobContext context) {
    return true;
  }

  @Override
  public void recoverTask(TaskAttemptContext context) {} // Its list is where it was.
}
