package io.stele.outputformat;

import io.stele.config.JobKeys;
import io.stele.model.SteleException;
import java.util.Locale;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.TaskType;

/** Whether tasks sort what they write, and in how much memory. */
final class TaskSort {
  /** The value of {@link BulkOutputFormat#SORT_KEY} with which they do. */
  static final String IN_TASK = "task";

  private static final String BY_SHUFFLE = "shuffle";
  private static final long BYTES_MIN = 1L << 20;
  private static final long SORT_BYTES_DEFAULT_MAX = 256L << 20;

  /** Parts of the heap: by default one of these is used to sort, and never more than two. */
  private static final int PARTS_OF_HEAP = 4;

  private TaskSort() {}

  static boolean isInTask(Configuration conf) {
    return conf.getTrimmed(BulkOutputFormat.SORT_KEY, BY_SHUFFLE).equals(IN_TASK);
  }

  /**
   * Checks what can be known when a job is submitted.
   *
   * @throws SteleException REFUSED if a key has a bad value
   */
  static void check(Configuration conf) {
    String sort = conf.getTrimmed(BulkOutputFormat.SORT_KEY, BY_SHUFFLE);
    if (!sort.equals(IN_TASK) && !sort.equals(BY_SHUFFLE)) {
      throw SteleException.refused(
          BulkOutputFormat.SORT_KEY
              + " is \""
              + sort
              + "\": set "
              + IN_TASK
              + " or "
              + BY_SHUFFLE
              + ", or call BulkOutputFormat.sortInTasks");
    }
    bytes(conf, BulkOutputFormat.SORT_BYTES_KEY, BYTES_MIN);
    bytes(conf, BulkOutputFormat.TABLET_BYTES_KEY, BYTES_MIN);
  }

  /**
   * The value of a key in bytes.
   *
   * @throws SteleException REFUSED if it is not a size, or out of bounds
   */
  static long bytes(Configuration conf, String key, long ifUnset) {
    return JobKeys.bytes(conf, key, "1m", "1t", ifUnset);
  }

  /**
   * How much memory a task sorts in, in bytes.
   *
   * @param heapBytes the maximum heap of the task's process
   * @param tables how many tables it writes; there is at least 1 MiB for each, in which a few
   *     arrays have room
   * @throws SteleException REFUSED if the process has too little for what is set
   */
  static long sortBytes(Configuration conf, long heapBytes, int tables) {
    TaskType type = conf.getInt(MRJobConfig.NUM_REDUCES, 1) == 0 ? TaskType.MAP : TaskType.REDUCE;
    long part = heapBytes / PARTS_OF_HEAP / TasksOfHeap.of(type, conf);
    long bytes =
        bytes(conf, BulkOutputFormat.SORT_BYTES_KEY, Math.min(SORT_BYTES_DEFAULT_MAX, part));
    if (bytes > 2 * part) {
      throw SteleException.refused(
          String.format(
              Locale.ROOT,
              "%s is %d bytes, more than half of what a task has of a heap of %d bytes: set at"
                  + " most %d, or give tasks more (mapreduce.map.java.opts, or"
                  + " mapreduce.reduce.java.opts where reducers sort)",
              BulkOutputFormat.SORT_BYTES_KEY,
              bytes,
              heapBytes,
              2 * part));
    }
    return Math.max(bytes, BYTES_MIN * tables);
  }
}
