package io.stele.outputformat;

import io.stele.config.JobKeys;
import io.stele.model.SteleException;
import java.util.List;
import org.apache.hadoop.conf.Configuration;

/**
 * Refuses a job whose input names tables that it would not read, as it reads files by MapReduce's
 * {@code MultipleInputs}, of which no path is for tables. Nothing of the input format runs when
 * such a job is submitted; so its output format looks.
 */
final class DroppedTables {
  private static final List<String> KEYS =
      List.of(JobKeys.Internal.INPUT_SCANS, JobKeys.INPUT_TABLE);

  private DroppedTables() {}

  /**
   * Checks a job that is being submitted.
   *
   * @throws SteleException REFUSED if it has tables to read but would read only files
   */
  static void check(Configuration conf) {
    for (String key : KEYS) {
      if (!conf.get(key, "").isEmpty()
          && TableInputs.hasSeveral(conf)
          && !TableInputs.isAmongSeveral(conf)) {
        throw SteleException.refused(
            key
                + " has tables for the job to read, but MultipleInputs would read only files: none"
                + " of the paths in "
                + TableInputs.SEVERAL_KEY
                + " is for tables. Call MultipleInputs.addInputPath(job, new Path(\"tables\"),"
                + " TableInputFormat.class, YourMapper.class), with any path. If the job is to read"
                + " only files, and its configuration is a copy of another job's, unset "
                + key);
      }
    }
  }
}
