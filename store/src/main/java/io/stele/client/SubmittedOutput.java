package io.stele.client;

import io.stele.config.JobKeys;
import io.stele.metadata.JobNodes;
import java.io.IOException;
import java.util.Optional;
import org.apache.hadoop.conf.Configuration;

/**
 * The cluster's job to which a MapReduce job's output belongs, as the output format notes it in the
 * configuration when the job is submitted. The ApplicationMaster and the tasks that write keep it
 * to the end, so the job's input can be kept with it. Internal: for input and output formats.
 */
public final class SubmittedOutput {
  private static final String KEY = JobKeys.Internal.SUBMITTED_OUTPUT;

  /** As MRJobConfig has it, on which the store does not depend. */
  private static final String FORMAT_KEY = "mapreduce.job.outputformat.class";

  /** Set by MapReduce in ApplicationMasters and tasks, from 1. */
  private static final String MASTER_KEY = "mapreduce.job.application.attempt.id";

  private SubmittedOutput() {}

  /** Notes that {@code job} keeps the output of the MapReduce job that is being submitted. */
  public static void set(Configuration conf, String job) {
    conf.set(KEY, conf.getTrimmed(FORMAT_KEY, "") + " " + job);
  }

  /** Forgets what was noted, as a configuration may be a copy of another job's. */
  public static void clear(Configuration conf) {
    conf.unset(KEY);
  }

  /** The job that keeps it, if the MapReduce job that is being submitted writes files of tables. */
  public static Optional<String> ofFiles(Configuration conf) {
    String files = conf.getTrimmed(JobKeys.Internal.BULK_JOB, "");
    return noted(conf).filter(job -> job.equals(files));
  }

  /** Whether the MapReduce job that is being submitted writes to a table. */
  public static boolean isWrittenTo(Configuration conf, String table) {
    return conf.get(JobKeys.Internal.OUTPUT_TABLE_ID + table) != null;
  }

  /**
   * What keeps the input of the MapReduce job that is being submitted, for {@link Jobs#begin}: the
   * job of its output, if that is there.
   */
  public static Optional<String> keeper(Jobs jobs, Configuration conf) throws IOException {
    Optional<String> job = noted(conf);
    return job.isPresent() && jobs.state(job.get()) == JobNodes.State.BEGUN
        ? job.map(name -> JobNodes.JOB + name)
        : Optional.empty();
  }

  /**
   * Keeps the job of the output of the MapReduce job that is being submitted, if it is there, until
   * what this returns is closed: its ApplicationMaster, which will keep it, does not run yet.
   */
  public static Optional<JobRenewal> keep(Jobs jobs, Configuration conf) throws IOException {
    Optional<String> job = noted(conf);
    return job.isPresent() && jobs.state(job.get()) == JobNodes.State.BEGUN
        ? job.map(jobs::keep)
        : Optional.empty();
  }

  /**
   * Whether an ApplicationMaster before the one of this task has committed the MapReduce job. Then
   * the tasks run again only because this one could not recover the first one's: what they read and
   * write does not matter, and the input may be gone.
   */
  public static boolean hasCommittedBefore(Jobs jobs, Configuration conf) throws IOException {
    Optional<String> job = noted(conf);
    return job.isPresent()
        && conf.getInt(MASTER_KEY, 1) > 1
        && jobs.state(job.get()) == JobNodes.State.COMMITTED;
  }

  /** Not that of a job with other output, whose configuration was copied. */
  private static Optional<String> noted(Configuration conf) {
    String format = conf.getTrimmed(FORMAT_KEY, "") + " ";
    return Optional.of(conf.get(KEY, ""))
        .filter(noted -> noted.startsWith(format))
        .map(noted -> noted.substring(format.length()));
  }
}
