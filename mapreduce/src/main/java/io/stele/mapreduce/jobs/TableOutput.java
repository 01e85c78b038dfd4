package io.stele.mapreduce.jobs;

/**
 * How a job writes a table.
 *
 * @param table its name
 * @param dryRun whether nothing is written; the job says what would be
 * @param replace whether what was there goes in the moment in which what the job writes comes;
 *     otherwise it stays
 */
public record TableOutput(String table, boolean dryRun, boolean replace) {
  /** What comes to what there is. */
  public static TableOutput to(String table) {
    return new TableOutput(table, false, false);
  }
}
