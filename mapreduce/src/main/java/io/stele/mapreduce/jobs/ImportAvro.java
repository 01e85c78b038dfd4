package io.stele.mapreduce.jobs;

import io.stele.client.Stele;
import io.stele.mapreduce.SteleJob;
import io.stele.model.Row;
import java.io.IOException;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.mapred.AvroKey;
import org.apache.avro.mapreduce.AvroJob;
import org.apache.avro.mapreduce.AvroKeyInputFormat;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;

/**
 * Writes the rows of Avro container files, as {@link ExportAvro} makes them, to a table, with their
 * timestamps: importing again changes nothing.
 *
 * @param directory the files, or one of them
 * @param output the table, which has the families
 */
public record ImportAvro(Path directory, TableOutput output) implements TableJob {
  /** An import that comes to what is there. */
  public ImportAvro(Path directory, String table, boolean dryRun) {
    this(directory, new TableOutput(table, dryRun, false));
  }

  @Override
  public Job prepare(Configuration conf) throws IOException {
    String table = output.table();
    try (Stele stele = Stele.connect(conf)) {
      stele.table(table); // Fails now if there is none, and not in the tasks.
    }
    Job job =
        SteleJob.create(
            conf,
            "import " + directory + " into table " + table,
            ImportAvro.class,
            AvroKeyInputFormat.class);
    job.setInputFormatClass(AvroKeyInputFormat.class);
    AvroJob.setInputKeySchema(job, AvroRows.ROW);
    FileInputFormat.addInputPath(job, directory);
    job.setMapperClass(ImportMapper.class);
    Written.of(output).addTo(job);
    return job;
  }

  @Override
  public Report report(Job finished) throws IOException {
    return Report.good(Written.of(output).lines(finished));
  }

  /** Writes each record's cells. */
  static final class ImportMapper extends MutationMapper<AvroKey<GenericRecord>, NullWritable> {
    @Override
    protected void map(AvroKey<GenericRecord> record, NullWritable nothing, Context context)
        throws IOException, InterruptedException {
      Row row = AvroRows.decode(record.datum());
      write(row.key(), row.cells(), context);
    }
  }
}
