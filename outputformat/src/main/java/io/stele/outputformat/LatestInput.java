package io.stele.outputformat;

import io.stele.config.JobKeys;
import io.stele.model.SteleException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.MRJobConfig;

/**
 * Refuses output that is applied at once and made of rows as they are when a mapper reads them.
 * Another attempt of the task may read other rows, and so write other operations under the same
 * numbers, or other numbers: some would be applied twice and others not at all, and not always does
 * a tablet notice.
 */
final class LatestInput {
  /** As they are named in configurations: this module does not depend on the one of inputs. */
  private static final String FORMAT = "io.stele.inputformat.TableInputFormat";

  private static final String SEVERAL =
      "org.apache.hadoop.mapreduce.lib.input.DelegatingInputFormat";

  /** As {@code MultipleInputs} has it: {@code path;format}, separated by commas. */
  private static final String SEVERAL_KEY = "mapreduce.input.multipleinputs.dir.formats";

  private LatestInput() {}

  /**
   * Checks a job that is being submitted.
   *
   * @throws SteleException REFUSED if it reads the latest rows of tables, unless it is said that it
   *     may
   */
  static void check(Configuration conf) {
    boolean latest = conf.getTrimmed(JobKeys.INPUT_READ, "").equals("latest");
    if (latest && readsTables(conf) && !isAllowed(conf)) {
      throw SteleException.refused(
          JobKeys.INPUT_READ
              + " is latest, but the job writes with TableOutputFormat: attempts of a task may read"
              + " different rows, and what they write could be applied twice or in part. Read"
              + " pinned, which is the default, or write with BulkOutputFormat; or, if it does no"
              + " harm to apply operations again, set "
              + JobKeys.OUTPUT_LATEST_ALLOWED
              + " to true");
    }
  }

  private static boolean readsTables(Configuration conf) {
    String format = conf.getTrimmed(MRJobConfig.INPUT_FORMAT_CLASS_ATTR, "");
    return format.equals(FORMAT)
        || (format.equals(SEVERAL) && conf.get(SEVERAL_KEY, "").contains(";" + FORMAT));
  }

  private static boolean isAllowed(Configuration conf) {
    String allowed = conf.getTrimmed(JobKeys.OUTPUT_LATEST_ALLOWED, "false");
    return switch (allowed) {
      case "true" -> true;
      case "false" -> false;
      default ->
          throw SteleException.refused(
              JobKeys.OUTPUT_LATEST_ALLOWED + " is " + allowed + ": it may be true or false");
    };
  }
}
