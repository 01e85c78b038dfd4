package io.stele.mapreduce.jobs;

import io.stele.config.JobKeys;
import io.stele.inputformat.TableInputFormat;
import io.stele.model.RowQuery;
import io.stele.model.SteleException;
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
   * Makes it an input of a job, which reads it at a pin, and nothing that the configuration names.
   *
   * @throws SteleException REFUSED if the configuration names a scan: the job would read it too
   */
  void addTo(Job job) {
    Configuration conf = job.getConfiguration();
    for (String key : JobKeys.names()) {
      if (key.startsWith(JobKeys.INPUT_TABLE) && !conf.get(key, "").isEmpty()) {
        throw SteleException.refused(
            key
                + " is set, to \""
                + conf.get(key)
                + "\": this job reads only what it is given itself. Remove the key");
      }
    }
    conf.set(TableInputFormat.READ_KEY, "pinned");
    TableInputFormat.addTable(job, table, query);
  }
}
