package io.stele.mapreduce.jobs;

import io.stele.inputformat.TableInputFormat;
import io.stele.mapreduce.SteleJob;
import io.stele.model.SteleException;
import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.Counters;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.jspecify.annotations.Nullable;

/**
 * Makes the jobs of this package. Each succeeds only if all of its tasks do, whatever the site's
 * configuration tolerates: otherwise it would report rows as counted, compared or replaced that no
 * task has seen. For the same reason, a job whose counters are lost has no result, and one whose
 * tasks ran again when its output was there, and read nothing.
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

  /**
   * What the tasks of a job that has succeeded have counted.
   *
   * @throws SteleException OUTCOME_UNKNOWN if nobody knows the counters any more, or they are not
   *     those of the tasks that wrote the output
   */
  static Counters counters(Job finished) throws IOException {
    return known(
        finished.getCounters(), finished.getConfiguration().getInt(MRJobConfig.NUM_MAPS, 1));
  }

  /**
   * The counters, unless they are lost: instead of those of a job whose ApplicationMaster is gone,
   * and which no history server knows, Hadoop gives empty ones. Each task counts something.
   *
   * @param maps how many map tasks there were
   */
  static Counters known(@Nullable Counters counters, int maps) {
    Counters all = counters == null ? new Counters() : counters;
    if (maps > 0 && all.countCounters() == 0) {
      throw new SteleException(
          SteleException.Code.OUTCOME_UNKNOWN,
          "the job has succeeded, but what its tasks counted is lost, and with it the result: its"
              + " ApplicationMaster has ended, and no history server knows the job. Start one, set"
              + " mapreduce.jobhistory.address, and run the job again");
    }
    long unread =
        all.countCounters() == 0
            ? 0
            : all.findCounter(TableInputFormat.Counter.SPLITS_NOT_READ).getValue();
    if (unread > 0) {
      throw new SteleException(
          SteleException.Code.OUTCOME_UNKNOWN,
          "the job has succeeded, and all its output is there, but what its tasks counted is lost:"
              + " its ApplicationMaster ended after the commit, and the next one ran tasks again,"
              + " which read nothing ("
              + unread
              + ")");
    }
    return all;
  }
}
