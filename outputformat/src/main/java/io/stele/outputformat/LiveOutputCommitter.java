package io.stele.outputformat;

import io.stele.client.Stele;
import java.io.IOException;
import java.util.Optional;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.JobStatus;
import org.apache.hadoop.mapreduce.OutputCommitter;
import org.apache.hadoop.mapreduce.TaskAttemptContext;

/**
 * Commits nothing and takes nothing back: mutations were applied when they were written, and a task
 * ends only when all of its have been. So a finished task need not run again when the
 * ApplicationMaster was restarted. It keeps the job alive, and ends it: then tablets forget what
 * its tasks wrote, and what comes late from an attempt is refused.
 */
final class LiveOutputCommitter extends OutputCommitter {
  private Optional<OutputJob.Kept> kept = Optional.empty();

  @Override
  public void setupJob(JobContext context) throws IOException {
    Optional<String> job = TableOutputFormat.job(context.getConfiguration());
    if (job.isPresent()) {
      kept = Optional.of(OutputJob.Kept.of(context, job.get()));
    }
  }

  @Override
  public void setupTask(TaskAttemptContext context) {}

  @Override
  public boolean needsTaskCommit(TaskAttemptContext context) {
    return false;
  }

  @Override
  public void commitTask(TaskAttemptContext context) {}

  @Override
  public void abortTask(TaskAttemptContext context) {}

  @Override
  public void commitJob(JobContext context) throws IOException {
    end(context);
  }

  @Override
  public void abortJob(JobContext context, JobStatus.State state) throws IOException {
    end(context);
  }

  private void end(JobContext context) throws IOException {
    kept.ifPresent(OutputJob.Kept::end);
    kept = Optional.empty();
    Optional<String> job = TableOutputFormat.job(context.getConfiguration());
    if (job.isPresent()) {
      try (Stele stele = Stele.connect(context.getConfiguration())) {
        stele.jobs().end(job.get());
      }
    }
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
  public void recoverTask(TaskAttemptContext context) {}
}
