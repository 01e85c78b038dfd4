package io.stele.mapreduce.jobs;

import io.stele.client.Stele;
import io.stele.client.TabletInfo;
import io.stele.mapreduce.SteleJob;
import io.stele.model.Amount;
import io.stele.model.RowRange;
import io.stele.outputformat.BulkOutputFormat;
import io.stele.outputformat.TableOutputFormat;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.mapreduce.Counters;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.lib.output.NullOutputFormat;

/**
 * What a job writes to a table, or in a dry run would write.
 *
 * @param replaced rows of the table whose existing cells are deleted; none: they stay
 */
record Written(String table, boolean dryRun, List<RowRange> replaced) {
  /** Many for any cluster; small tables need fewer. */
  private static final int REDUCERS_MAX = 200;

  /** The output of a job; if it replaces, it replaces all rows. */
  static Written of(TableOutput output) {
    return of(output, List.of(RowRange.ALL));
  }

  /** The output of a job; if it replaces, it replaces {@code rows}. */
  static Written of(TableOutput output, List<RowRange> rows) {
    return new Written(output.table(), output.dryRun(), output.replace() ? rows : List.of());
  }

  /** Makes it the output of a job whose input and mapper are set. */
  void addTo(Job job) throws IOException {
    job.setNumReduceTasks(0);
    if (dryRun) {
      job.setOutputFormatClass(NullOutputFormat.class);
    } else if (replaced.isEmpty()) {
      TableOutputFormat.addTable(job, table);
    } else {
      SteleJob.bulkInto(job, table, REDUCERS_MAX);
      replaced.forEach(rows -> BulkOutputFormat.replaceRows(job, table, rows));
    }
  }

  /** What was written. */
  List<String> lines(Job finished) throws IOException {
    Counters counters = CompleteJob.counters(finished);
    long rows = counters.findCounter(MutationMapper.Counter.ROWS).getValue();
    long cells = counters.findCounter(MutationMapper.Counter.CELLS).getValue();
    List<String> lines = new ArrayList<>();
    lines.add(
        (dryRun ? "Dry run: " : "")
            + Amount.of(rows, "row")
            + ", "
            + Amount.of(cells, "cell")
            + (dryRun ? " would be" : "")
            + " written to table "
            + table
            + ".");
    for (RowRange range : replaced) {
      String which =
          range.equals(RowRange.ALL) ? "All earlier rows" : "The earlier rows in " + range;
      lines.add(
          dryRun
              ? which + " would be replaced: " + size(finished, range) + "."
              : which + " were replaced.");
    }
    return lines;
  }

  private String size(Job job, RowRange range) throws IOException {
    long tablets = 0;
    long bytes = 0;
    try (Stele stele = Stele.connect(job.getConfiguration())) {
      for (TabletInfo tablet : stele.table(table).tablets()) {
        if (tablet.rows().intersection(range).isPresent()) {
          tablets++;
          bytes += tablet.bytes();
        }
      }
    }
    return "they are in " + Amount.of(tablets, "tablet") + " of " + Amount.of(bytes, "byte");
  }
}
