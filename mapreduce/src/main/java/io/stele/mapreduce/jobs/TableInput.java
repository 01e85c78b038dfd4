package io.stele.mapreduce.jobs;

import io.stele.config.JobKeys;
import io.stele.inputformat.TableInputFormat;
import io.stele.model.RowQuery;
import io.stele.model.SteleException;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.Job;

/**
 * The part of a table that a job reads.
 *
 * @param table its name
 * @param query which rows, and what of them
 */
public record TableInput(String table, RowQuery query) {
  /** All rows, and all versions of all columns. */
  public static TableInput all(String table) {
    return new TableInput(table, RowQuery.ALL.versions(Integer.MAX_VALUE));
  }

  /**
   * Makes it the input of a job, which reads it at a pin, and nothing that the configuration names.
   *
   * @throws SteleException REFUSED if the configuration names a scan: the job would read it too
   */
  void addTo(Job job) {
    addAll(job, List.of(this));
  }

  /** Like {@link #addTo}, for several at once. */
  static void addAll(Job job, List<TableInput> inputs) {
    Configuration conf = job.getConfiguration();
    checkNone(conf);
    conf.set(TableInputFormat.READ_KEY, "pinned");
    job.setInputFormatClass(TableInputFormat.class); // Whatever the configuration's other paths.
    for (TableInput input : inputs) {
      TableInputFormat.addTable(job, input.table, input.query);
    }
  }

  private static void checkNone(Configuration conf) {
    for (String key : JobKeys.names()) {
      if (key.startsWith(JobKeys.INPUT_TABLE) && !conf.get(key, "").isEmpty()) {
        throw SteleException.refused(
            key
                + " is set, to \""
                + conf.get(key)
                + "\": this job reads only what it is given itself. Remove the key");
      }
    }
    if (!conf.get(JobKeys.Internal.INPUT_SCANS, "").isEmpty()) {
      throw SteleException.refused(
          JobKeys.Internal.INPUT_SCANS
              + " is set, as in the configuration of another job that reads tables: this job reads"
              + " only what it is given itself. Give it a configuration of which no job was made,"
              + " or unset the key");
    }
  }
}
