package io.stele.outputformat;

import io.stele.config.JobKeys;
import io.stele.model.SteleException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.lib.input.MultipleInputs;
import org.apache.hadoop.mapreduce.lib.map.MultithreadedMapper;

/**
 * Refuses output that is applied at once, where attempts of a task may write different records or
 * in another order: mappers that read rows as they are then, and mappers of several threads. Such
 * attempts write other operations under the same numbers: some would be applied twice and others
 * not at all, and not always does a tablet notice.
 */
final class RepeatableWrites {
  private RepeatableWrites() {}

  /**
   * Checks a job that is being submitted.
   *
   * @throws SteleException REFUSED if it reads the latest rows of tables and it is not said that it
   *     may, or its mappers write with several threads
   */
  static void check(Configuration conf) {
    checkThreads(conf);
    boolean latest = conf.getTrimmed(JobKeys.INPUT_READ, "").equals("latest");
    if (latest && TableInputs.areRead(conf) && !isAllowed(conf)) {
      throw SteleException.refused(
          JobKeys.INPUT_READ
              + " is latest, but the job writes with TableOutputFormat: attempts of a task may read"
              + " different rows, and what they write could be applied twice or in part. Read"
              + " pinned, which is the default, or write with BulkOutputFormat; or, if it does no"
              + " harm to apply operations again, set "
              + TableOutputFormat.LATEST_ALLOWED_KEY
              + " to true");
    }
  }

  private static void checkThreads(Configuration conf) {
    boolean several = conf.getInt(MultithreadedMapper.NUM_THREADS, 10) > 1;
    if (several && conf.getInt(MRJobConfig.NUM_REDUCES, 1) == 0) {
      mappers(conf).stream()
          .map(conf::getClassByNameOrNull) // The submitter may lack it.
          .filter(mapper -> mapper != null && MultithreadedMapper.class.isAssignableFrom(mapper))
          .findFirst()
          .ifPresent(RepeatableWrites::refuse);
    }
  }

  private static void refuse(Class<?> mapper) {
    throw SteleException.refused(
        "the job's mappers write with TableOutputFormat from several threads ("
            + mapper.getSimpleName()
            + "), so each attempt of a task writes in another order, and what they write could be"
            + " applied twice. Use one thread, as writing does not wait for the servers, or write"
            + " with BulkOutputFormat and sortInTasks");
  }

  /** The names of the job's mappers: the only one, and those of MultipleInputs. */
  private static List<String> mappers(Configuration conf) {
    List<String> names = new ArrayList<>();
    names.add(conf.getTrimmed(MRJobConfig.MAP_CLASS_ATTR, ""));
    for (String path : conf.getTrimmedStrings(MultipleInputs.DIR_MAPPERS)) {
      names.add(path.substring(path.indexOf(';') + 1));
    }
    return names;
  }

  private static boolean isAllowed(Configuration conf) {
    String allowed = conf.getTrimmed(TableOutputFormat.LATEST_ALLOWED_KEY, "false");
    return switch (allowed) {
      case "true" -> true;
      case "false" -> false;
      default ->
          throw SteleException.refused(
              TableOutputFormat.LATEST_ALLOWED_KEY
                  + " is "
                  + allowed
                  + ": it may be true or false");
    };
  }
}
