package io.stele.outputformat;

import io.stele.config.JobKeys;
import io.stele.model.SteleException;
import org.apache.hadoop.conf.Configuration;

/**
 * Refuses output that is applied at once and made of rows as they are when a mapper reads them.
 * Another attempt of the task may read other rows, and so write other operations under the same
 * numbers, or other numbers: some would be applied twice and others not at all, and not always does
 * a tablet notice.
 */
final class LatestInput {
  private LatestInput() {}

  /**
   * Checks a job that is being submitted.
   *
   * @throws SteleException REFUSED if it reads the latest rows of tables, unless it is said that it
   *     may
   */
  static void check(Configuration conf) {
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
