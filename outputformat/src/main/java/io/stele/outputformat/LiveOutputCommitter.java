package io.stele.outputformat;

import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.OutputCommitter;
import org.apache.hadoop.mapreduce.TaskAttemptContext;

/**
 * Commits nothing and takes nothing back: mutations were applied when they were written, and a task
 * ends only when all of its have been. So a finished task need not run again when the
 * ApplicationMaster was restarted.
 */
final class LiveOutputCommitter extends OutputCommitter {
  @Override
  public void setupJob(JobContext context) {}

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
