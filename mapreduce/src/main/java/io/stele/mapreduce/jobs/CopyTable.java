package io.stele.mapreduce.jobs;

import io.stele.client.Stele;
import io.stele.mapreduce.SteleJob;
import io.stele.model.Bytes;
import io.stele.model.ColumnFamily;
import io.stele.model.Row;
import io.stele.model.SteleException;
import java.io.IOException;
import java.util.Set;
import java.util.TreeSet;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.Job;

/**
 * Copies cells from one table to another, with their timestamps, as they were when the job was
 * submitted. What the other table has besides stays; so does what a version limit of its keeps.
 *
 * @param input what is copied
 * @param to the name of the other table, which has the families
 * @param dryRun whether nothing is written
 */
public record CopyTable(TableInput input, String to, boolean dryRun) implements TableJob {
  @Override
  public Job prepare(Configuration conf) throws IOException {
    if (input.table().equals(to)) {
      throw SteleException.refused("table " + to + " cannot be copied to itself: name another");
    }
    checkFamilies(conf);
    Job job = SteleJob.create(conf, "copy table " + input.table() + " to " + to);
    input.addTo(job);
    job.setMapperClass(CopyMapper.class);
    Written.to(job, to, dryRun);
    return job;
  }

  private void checkFamilies(Configuration conf) throws IOException {
    try (Stele stele = Stele.connect(conf)) {
      Set<String> missing = new TreeSet<>();
      for (ColumnFamily family : stele.table(input.table()).schema().families()) {
        missing.add(family.name());
      }
      Set<String> wanted = new TreeSet<>(input.query().families());
      input.query().columns().forEach(column -> wanted.add(column.family()));
      if (!wanted.isEmpty()) {
        missing.retainAll(wanted);
      }
      stele.table(to).schema().families().forEach(family -> missing.remove(family.name()));
      if (!missing.isEmpty()) {
        throw SteleException.notFound(
            "table "
                + to
                + " has no family "
                + String.join(", ", missing)
                + ": add what is missing (stele table alter), or copy less");
      }
    }
  }

  @Override
  public Report report(Job finished) throws IOException {
    return Report.good(Written.lines(finished, to, dryRun));
  }

  /** Writes each row's cells again. */
  static final class CopyMapper extends MutationMapper<Bytes, Row> {
    @Override
    protected void map(Bytes key, Row row, Context context)
        throws IOException, InterruptedException {
      write(key, row.cells(), context);
    }
  }
}
