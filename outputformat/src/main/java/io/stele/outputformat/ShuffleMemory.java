package io.stele.outputformat;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.Reducer;
import org.apache.hadoop.mapreduce.TaskType;

/**
 * How much memory the tasks of a job use for its shuffle, so that fewer bytes go to local disk. Set
 * when the job is submitted; what somebody has set stays.
 *
 * <ul>
 *   <li>Mappers sort their output in parts of 100 MB, and merge these in files, unless all of it
 *       fits. Bulk output has splits of a block of HDFS, so a quarter of a mapper's heap is mostly
 *       enough for all.
 *   <li>Reducers write the map output that they have received to local disk and read it back before
 *       the first record is reduced, to leave the memory to the reducer. Those that only write
 *       files of tables need little, so for them it stays in memory.
 * </ul>
 */
final class ShuffleMemory {
  /** Of a mapper's heap, for sorting. */
  private static final int SORT_SHARE = 4;

  /** Room for the output of a split of 128 MiB: the buffer is made whole, however little comes. */
  private static final int SORT_MB_MAX = 256;

  /**
   * The part that stays of the memory for receiving map output, which is 0.7 of the heap unless
   * {@code mapreduce.reduce.shuffle.input.buffer.percent} says otherwise. So half of the heap is
   * left for the rows being written.
   */
  private static final float KEPT = 0.7f;

  private static final String DEFAULTS = "mapred-default.xml";

  private ShuffleMemory() {}

  /** Sets a job up. */
  static void set(JobContext context) {
    Configuration conf = context.getConfiguration();
    setSorting(conf, Runtime.getRuntime().maxMemory());
    setReceiving(conf);
  }

  /**
   * Sets the memory for sorting, if a mapper's heap is large enough for more than the default.
   *
   * @param localHeap the heap of this process, in bytes, which tasks of the local runner share
   */
  static void setSorting(Configuration conf, long localHeap) {
    long heapMb =
        TasksOfHeap.isLocal(conf)
            ? (localHeap >> 20) / TasksOfHeap.of(TaskType.MAP, conf)
            : JobConf.parseMaximumHeapSizeMB(new JobConf(conf).getTaskJavaOpts(TaskType.MAP));
    int sortMb = (int) Math.min(heapMb / SORT_SHARE, SORT_MB_MAX);
    if (isDefault(conf, MRJobConfig.IO_SORT_MB)
        && sortMb > conf.getInt(MRJobConfig.IO_SORT_MB, 0)) {
      conf.setInt(MRJobConfig.IO_SORT_MB, sortMb);
    }
  }

  /** Sets the memory for received map output, unless the job has a reducer of its own. */
  private static void setReceiving(Configuration conf) {
    String reducer = conf.get(MRJobConfig.REDUCE_CLASS_ATTR, Reducer.class.getName());
    if (reducer.equals(Reducer.class.getName())
        && isDefault(conf, MRJobConfig.REDUCE_INPUT_BUFFER_PERCENT)) {
      conf.setFloat(
          MRJobConfig.REDUCE_INPUT_BUFFER_PERCENT, KEPT / TasksOfHeap.of(TaskType.REDUCE, conf));
    }
  }

  private static boolean isDefault(Configuration conf, String key) {
    String[] sources = conf.getPropertySources(key);
    return sources == null || sources[sources.length - 1].equals(DEFAULTS);
  }
}
