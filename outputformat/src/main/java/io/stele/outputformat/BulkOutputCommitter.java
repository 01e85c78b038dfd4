package io.stele.outputformat;

import io.stele.bulk.JobOutput;
import io.stele.client.Stele;
import java.io.IOException;
import java.util.Optional;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.JobStatus;
import org.apache.hadoop.mapreduce.OutputCommitter;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Commits a task by a list of its files, and the job by one request to the cluster. Each step may
 * be repeated, also by another ApplicationMaster. Each checks that the output is that of the job in
 * hand, whatever its configuration says: that may be a copy of another's.
 */
final class BulkOutputCommitter extends OutputCommitter {
  private static final Logger LOG = LoggerFactory.getLogger(BulkOutputCommitter.class);

  private Optional<OutputJob.Kept> kept = Optional.empty();

  /** The job's output, and the connection that it needs. */
  private record Opened(Stele stele, JobOutput output) implements AutoCloseable {
    static Opened of(JobContext context) throws IOException {
      Stele stele = Stele.connect(context.getConfiguration());
      try {
        String job = BulkOutputFormat.job(context.getConfiguration());
        return new Opened(stele, new JobOutput(stele.jobs(), job));
      } catch (IOException | RuntimeException e) {
        stele.close();
        throw e;
      }
    }

    @Override
    public void close() {
      stele.close();
    }
  }

  @Override
  public void setupJob(JobContext context) throws IOException {
    String job = BulkOutputFormat.job(context.getConfiguration());
    try (Opened opened = Opened.of(context)) {
      opened.output().setUp(BulkOutputFormat.id(context));
    }
    kept = Optional.of(OutputJob.Kept.of(context, job));
  }

  private void endKeeping() {
    kept.ifPresent(OutputJob.Kept::end);
    kept = Optional.empty();
  }

  @Override
  public void setupTask(TaskAttemptContext context) {
    ReportingReducer.install(context, BulkOutputFormat.class);
  }

  @Override
  public boolean needsTaskCommit(TaskAttemptContext context) throws IOException {
    try (Opened job = Opened.of(context)) {
      return job.output().isFinished(BulkOutputFormat.attempt(context));
    }
  }

  @Override
  public void commitTask(TaskAttemptContext context) throws IOException {
    try (Opened job = Opened.of(context)) {
      job.output().requireSetUp(BulkOutputFormat.id(context));
      job.output()
          .publish(
              BulkOutputFormat.attempt(context), context.getTaskAttemptID().getTaskID().toString());
    }
  }

  @Override
  public void abortTask(TaskAttemptContext context) throws IOException {
    try (Opened job = Opened.of(context)) {
      job.output().discard(BulkOutputFormat.attempt(context));
    }
  }

  @Override
  public void commitJob(JobContext context) throws IOException {
    try (Opened job = Opened.of(context)) {
      job.output().requireSetUp(BulkOutputFormat.id(context));
      Configuration conf = context.getConfiguration();
      Optional<JobOutput.Division> division = BulkOutputFormat.division(conf);
      if (division.isPresent()) {
        job.output().commit(division.get(), ReplacedRows.byTable(conf));
      } else {
        job.output().commit(BulkOutputFormat.cuts(conf), ReplacedRows.byTable(conf));
      }
    }
    endKeeping();
  }

  @Override
  public void abortJob(JobContext context, JobStatus.State state) throws IOException {
    endKeeping();
    try (Opened job = Opened.of(context)) {
      if (job.output().isSetUpByAnother(BulkOutputFormat.id(context))) {
        LOG.warn("The output of another job is not ended with job {}", context.getJobID());
      } else {
        job.output().abort();
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
  public void recoverTask(TaskAttemptContext context) {} // Its list is where it was.
}
