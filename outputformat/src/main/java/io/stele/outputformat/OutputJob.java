package io.stele.outputformat;

import io.stele.client.JobRenewal;
import io.stele.client.Jobs;
import io.stele.client.ModelSerialization;
import io.stele.client.Stele;
import io.stele.client.SubmittedOutput;
import io.stele.model.TableUse;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.MRConfig;
import org.apache.hadoop.mapreduce.MRJobConfig;

/** The cluster's job that belongs to a MapReduce job, as far as its output needs one. */
final class OutputJob {
  private static final Duration LEASE = Duration.ofHours(1);

  /** Nothing waits for containers there. */
  private static final Duration LOCAL_LEASE = Duration.ofMinutes(10);

  private static final String TAG = "stele-";

  /** Why tasks have nothing of what {@code checkOutputSpecs} set, and what to do. */
  static final String CHECKED_A_COPY =
      ", in the configuration that it is given. Spark gives it a copy, unless its program passes"
          + " that of a Job: call saveAsNewAPIHadoopDataset with job.getConfiguration() itself";

  private OutputJob() {}

  /** The job is kept alive as long as its ApplicationMaster, or a task, runs. */
  record Kept(Stele stele, JobRenewal renewal) {
    /** Keeps {@code job} over a connection of its own. */
    static Kept of(JobContext context, String job) throws IOException {
      Stele stele = Stele.connect(context.getConfiguration());
      try {
        return new Kept(stele, stele.jobs().keep(job));
      } catch (RuntimeException e) {
        stele.close();
        throw e;
      }
    }

    void end() {
      renewal.close();
      stele.close();
    }
  }

  /**
   * Begins a job when it is submitted.
   *
   * @param leaseKey the configuration key of its lease: how long it lives without being renewed
   * @param how it writes its tables
   * @return its name
   */
  static String begin(JobContext context, Jobs jobs, String leaseKey, TableUse.How how)
      throws IOException {
    Duration unset = isOfLocalRunner(context) ? LOCAL_LEASE : LEASE;
    Duration lease = Jobs.lease(context.getConfiguration(), leaseKey, unset);
    List<TableUse> uses =
        OutputTable.all(context.getConfiguration()).stream()
            .map(table -> new TableUse(table.name(), how))
            .toList();
    String job = jobs.begin(lease, application(context, jobs), uses);
    SubmittedOutput.set(context.getConfiguration(), job);
    return job;
  }

  /**
   * Whether the same {@link Job} was submitted before, which failed after it had got a name, as far
   * as the submitter knows. A copy of a job has no name.
   */
  static boolean isSubmittedAgain(JobContext context) {
    return context instanceof Job && context.getJobID() != null;
  }

  /**
   * Ends what a submission before has begun for the same {@link Job}: nobody else does, and it
   * would be kept for its lease. If that submission has reached YARN all the same, its job cannot
   * commit any more. So this is not for output that tables have before the job ends.
   *
   * @param jobKey the configuration key of its name in the cluster
   */
  static void endSubmittedBefore(JobContext context, Jobs jobs, String jobKey) throws IOException {
    String before = context.getConfiguration().getTrimmed(jobKey, "");
    if (isSubmittedAgain(context) && !before.isEmpty()) {
      jobs.end(before);
    }
  }

  /**
   * Checks what mappers send to reducers. Others that use formats have no shuffle of MapReduce;
   * they do not have a {@link Job} either.
   */
  static void checkMapOutput(JobContext context) {
    if (context instanceof Job) {
      ModelSerialization.checkMapOutputForTables(context.getConfiguration());
    }
  }

  /** Whether the job runs in this process: others that use formats do not have a {@link Job}. */
  private static boolean isOfLocalRunner(JobContext context) {
    return context instanceof Job
        && context.getConfiguration().get(MRConfig.FRAMEWORK_NAME, "local").equals("local");
  }

  /**
   * What will run the job: it has no name yet, as output is checked first. So it gets a tag.
   *
   * @return how the master finds it; empty if it does not run on YARN
   */
  private static Optional<String> application(JobContext context, Jobs jobs) {
    Configuration conf = context.getConfiguration();
    if (!conf.get(MRConfig.FRAMEWORK_NAME, "").equals(MRConfig.YARN_FRAMEWORK_NAME)) {
      return Optional.empty();
    }
    String tag = TAG + jobs.environment().unique();
    List<String> tags = new ArrayList<>(conf.getTrimmedStringCollection(MRJobConfig.JOB_TAGS));
    tags.removeIf(one -> one.startsWith(TAG)); // Of a submission before.
    tags.add(tag);
    conf.set(MRJobConfig.JOB_TAGS, String.join(",", tags));
    return Optional.of(Jobs.tagged(tag));
  }
}
