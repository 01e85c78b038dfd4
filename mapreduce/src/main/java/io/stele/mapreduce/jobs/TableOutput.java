package io.stele.mapreduce.jobs;

/**
 * How a job writes a table.
 *
 * @param table its name
 * @param dryRun whether nothing is written, and the job only reports what it would write
 * @param replace whether the job's commit replaces the existing rows; otherwise they stay
 */
public record TableOutput(String table, boolean dryRun, boolean replace) {
  /** Output that adds to the existing rows. */
  public static TableOutput to(String table) {
    return new TableOutput(table, false, false);
  }
}
