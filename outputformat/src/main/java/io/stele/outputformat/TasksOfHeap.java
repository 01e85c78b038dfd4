package io.stele.outputformat;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.MRConfig;
import org.apache.hadoop.mapreduce.TaskType;

/** How many tasks share one heap: with the local runner, those that run at a time. */
final class TasksOfHeap {
  private static final String LOCAL_MAPS_KEY = "mapreduce.local.map.tasks.maximum";
  private static final String LOCAL_REDUCERS_KEY = "mapreduce.local.reduce.tasks.maximum";

  private TasksOfHeap() {}

  /** Whether tasks run in the submitting process. */
  static boolean isLocal(Configuration conf) {
    return conf.get(MRConfig.FRAMEWORK_NAME, MRConfig.LOCAL_FRAMEWORK_NAME)
        .equals(MRConfig.LOCAL_FRAMEWORK_NAME);
  }

  /**
   * The number of tasks of {@code type} that share a heap.
   *
   * @param type MAP or REDUCE
   */
  static int of(TaskType type, Configuration conf) {
    String key = type == TaskType.MAP ? LOCAL_MAPS_KEY : LOCAL_REDUCERS_KEY;
    return isLocal(conf) ? Math.max(1, conf.getInt(key, 1)) : 1;
  }
}
