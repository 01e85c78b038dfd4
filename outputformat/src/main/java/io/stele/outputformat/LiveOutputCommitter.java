package io.stele.outputformat;

import io.stele.client.Stele;
import io.stele.model.SteleException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.Optional;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.JobStatus;
import org.apache.hadoop.mapreduce.OutputCommitter;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Commits nothing and undoes nothing: mutations are applied when they are written, and a task ends
 * only when all its mutations have been applied. So a finished task need not run again after a
 * restart of the ApplicationMaster. This keeps the job alive, and ends it: then tablets forget what
 * its tasks wrote, and refuse late writes of an attempt. A job that succeeds counts as committed,
 * so that tasks of an ApplicationMaster that begins from scratch after that write nothing.
 */
final class LiveOutputCommitter extends OutputCommitter {
  private static final Logger LOG = LoggerFactory.getLogger(LiveOutputCommitter.class);

  private Optional<OutputJob.Kept> kept = Optional.empty();

  @Override
  public void setupJob(JobContext context) throws IOException {
    Optional<String> job = TableOutputFormat.job(context.getConfiguration());
    if (job.isPresent()) {
      checkMappers(context.getConfiguration());
      kept = Optional.of(OutputJob.Kept.of(context, job.get()));
    }
  }

  /**
   * Refuses mappers for which servers have no room; if there is nobody to ask, they begin, as they
   * would otherwise.
   */
  private static void checkMappers(Configuration conf) throws IOException {
    try (Stele stele = Stele.connect(conf)) {
      RememberedTasks.checkMappers(stele, conf);
    } catch (SteleException e) {
      if (e.code() != SteleException.Code.RETRY_LATER) {
        throw e;
      }
      LOG.warn("Cannot tell whether tablet servers have room to remember all tasks", e);
    }
  }

  @Override
  public void setupTask(TaskAttemptContext context) {
    ReportingReducer.install(context, TableOutputFormat.class);
  }

  @Override
  public boolean needsTaskCommit(TaskAttemptContext context) {
    return false;
  }

  @Override
  public void commitTask(TaskAttemptContext context) {}

  @Override
  public void abortTask(TaskAttemptContext context) {}

  /**
   * Succeeds even if the job cannot be ended in the cluster: all its output is applied, and whoever
   * runs a job again because it is said to have failed applies everything twice.
   */
  @Override
  public void commitJob(JobContext context) throws IOException {
    try {
      endJob(context, JobStatus.State.SUCCEEDED);
    } catch (InterruptedIOException e) {
      throw e;
    } catch (IOException | SteleException e) {
      LOG.warn(
          "All output is applied, but job {} could not be ended in the cluster. It ends by itself"
              + " when YARN says that its application has ended, or when its lease is over: {}",
          TableOutputFormat.job(context.getConfiguration()).orElse(""),
          e.toString());
    }
  }

  @Override
  public void abortJob(JobContext context, JobStatus.State state) throws IOException {
    endJob(context, state);
  }

  private void endJob(JobContext context, JobStatus.State state) throws IOException {
    kept.ifPresent(OutputJob.Kept::end);
    kept = Optional.empty();
    Optional<String> job = TableOutputFormat.job(context.getConfiguration());
    if (job.isPresent()) {
      try (Stele stele = Stele.connect(context.getConfiguration())) {
        if (state == JobStatus.State.SUCCEEDED) {
          stele.jobs().finish(job.get());
        } else {
          stele.jobs().end(job.get());
        }
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
