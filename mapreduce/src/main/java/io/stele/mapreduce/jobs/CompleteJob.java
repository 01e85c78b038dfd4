package io.stele.mapreduce.jobs;

import io.stele.mapreduce.SteleJob;
import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.MRJobConfig;

/**
 * Makes the jobs of this package. Each succeeds only if all of its tasks do, whatever the site's
 * configuration tolerates: otherwise it would report rows as counted, compared or replaced that no
 * task has seen.
 */
final class CompleteJob {
  private CompleteJob() {}

  /** As {@link SteleJob#create}. */
  static Job create(Configuration conf, String name, Class<?>... program) throws IOException {
    Job job = SteleJob.create(conf, name, program);
    job.getConfiguration().setInt(MRJobConfig.MAP_FAILURES_MAX_PERCENT, 0);
    job.getConfiguration().setInt(MRJobConfig.REDUCE_FAILURES_MAXPERCENT, 0);
    return job;
  }
}
