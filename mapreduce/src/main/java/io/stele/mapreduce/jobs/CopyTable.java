package io.stele.mapreduce.jobs;

import io.stele.client.Stele;
import io.stele.model.Bytes;
import io.stele.model.ColumnFamily;
import io.stele.model.Row;
import io.stele.model.RowRange;
import io.stele.model.SteleException;
import java.io.IOException;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.Job;

/**
 * Copies cells from one table to another, with their timestamps, as they were when the job was
 * submitted. Other data of the other table stays, unless it is replaced, and as far as its own
 * limit of versions allows.
 *
 * @param input what is copied
 * @param output the other table, which must have the families. If it is replaced, all rows of the
 *     copied range, or of the table, are replaced whole, including their cells that are not copied
 */
public record CopyTable(TableInput input, TableOutput output) implements TableJob {
  /** A copy that adds to the existing rows. */
  public CopyTable(TableInput input, String to, boolean dryRun) {
    this(input, new TableOutput(to, dryRun, false));
  }

  @Override
  public Job prepare(Configuration conf) throws IOException {
    String to = output.table();
    if (input.table().equals(to)) {
      throw SteleException.refused("table " + to + " cannot be copied to itself: name another");
    }
    checkFamilies(conf, to);
    Job job = CompleteJob.create(conf, "copy table " + input.table() + " to " + to);
    input.addTo(job);
    job.setMapperClass(CopyMapper.class);
    written().addTo(job);
    return job;
  }

  private Written written() {
    List<RowRange> copied = input.query().ranges();
    return copied.isEmpty() ? Written.of(output) : Written.of(output, copied);
  }

  private void checkFamilies(Configuration conf, String to) throws IOException {
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
    return Report.good(written().lines(finished));
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
