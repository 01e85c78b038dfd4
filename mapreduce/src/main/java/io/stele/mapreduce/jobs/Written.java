package io.stele.mapreduce.jobs;

import io.stele.outputformat.TableOutputFormat;
import java.io.IOException;
import java.util.List;
import java.util.Locale;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.lib.output.NullOutputFormat;

/** Jobs that write to a table, or only say what they would write. */
final class Written {
  private Written() {}

  /** Where a job writes to. */
  static void to(Job job, String table, boolean dryRun) {
    job.setNumReduceTasks(0);
    if (dryRun) {
      job.setOutputFormatClass(NullOutputFormat.class);
    } else {
      TableOutputFormat.addTable(job, table);
    }
  }

  /** What was written. */
  static List<String> lines(Job finished, String table, boolean dryRun) throws IOException {
    long rows = finished.getCounters().findCounter(MutationMapper.Counter.ROWS).getValue();
    long cells = finished.getCounters().findCounter(MutationMapper.Counter.CELLS).getValue();
    return List.of(
        String.format(
            Locale.ROOT,
            dryRun
                ? "Dry run: %,d rows, %,d cells would be written to table %s."
                : "%,d rows, %,d cells written to table %s.",
            rows,
            cells,
            table));
  }
}
