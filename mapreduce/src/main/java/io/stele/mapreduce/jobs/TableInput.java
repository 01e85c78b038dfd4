package io.stele.mapreduce.jobs;

import io.stele.inputformat.TableInputFormat;
import io.stele.model.RowQuery;
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

  /** Makes it the input of a job. */
  void addTo(Job job) {
    TableInputFormat.addTable(job, table, query);
  }
}
