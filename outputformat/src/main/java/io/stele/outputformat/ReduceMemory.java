package io.stele.outputformat;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.MRConfig;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.Reducer;

/**
 * Where reducers of a job keep the map output that they have received. MapReduce writes it to local
 * disk and reads it back before the first record is reduced, to leave the memory to the reducer.
 * Reducers that only write files of tables need little, so for them it stays in memory.
 */
final class ReduceMemory {
  /**
   * The part that stays of the memory for receiving map output, which is 0.7 of the heap unless
   * {@code mapreduce.reduce.shuffle.input.buffer.percent} says otherwise. So half of the heap is
   * left for the rows being written.
   */
  private static final float KEPT = 0.7f;

  private static final String LOCAL_REDUCERS_KEY = "mapreduce.local.reduce.tasks.maximum";
  private static final String DEFAULTS = "mapred-default.xml";

  private ReduceMemory() {}

  /**
   * Sets a job up when it is submitted, unless it has a reducer of its own, or somebody has set
   * another value.
   */
  static void set(JobContext context) {
    Configuration conf = context.getConfiguration();
    String reducer = conf.get(MRJobConfig.REDUCE_CLASS_ATTR, Reducer.class.getName());
    if (reducer.equals(Reducer.class.getName())
        && isDefault(conf, MRJobConfig.REDUCE_INPUT_BUFFER_PERCENT)) {
      conf.setFloat(MRJobConfig.REDUCE_INPUT_BUFFER_PERCENT, KEPT / reducersOfHeap(conf));
    }
  }

  private static boolean isDefault(Configuration conf, String key) {
    String[] sources = conf.getPropertySources(key);
    return sources == null || sources[sources.length - 1].equals(DEFAULTS);
  }

  /** How many reducers share a heap: with the local runner, those that run at a time. */
  private static int reducersOfHeap(Configuration conf) {
    return conf.get(MRConfig.FRAMEWORK_NAME, MRConfig.LOCAL_FRAMEWORK_NAME)
            .equals(MRConfig.LOCAL_FRAMEWORK_NAME)
        ? Math.max(1, conf.getInt(LOCAL_REDUCERS_KEY, 1))
        : 1;
  }
}
