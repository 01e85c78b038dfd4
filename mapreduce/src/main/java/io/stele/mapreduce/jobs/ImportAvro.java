package io.stele.mapreduce.jobs;

import io.stele.client.Stele;
import io.stele.client.Table;
import io.stele.config.JobKeys;
import io.stele.mapreduce.RecordMapping;
import io.stele.model.Mutation;
import io.stele.model.Row;
import java.io.IOException;
import java.util.Optional;
import org.apache.avro.generic.GenericData;
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
 * timestamps: importing them again changes nothing. With a mapping, it writes records of other
 * schemas.
 *
 * @param directory the files, or one of them
 * @param output the table, which has the families
 * @param mapping of the files' records, whose schema need not be the one that they were written
 *     with; none: they are rows
 */
public record ImportAvro(
    Path directory, TableOutput output, Optional<RecordMapping<GenericRecord>> mapping)
    implements TableJob {
  private static final String REPLACE_KEY = JobKeys.Internal.AVRO_REPLACE;

  /** An import of rows in the format of an export. */
  public ImportAvro(Path directory, TableOutput output) {
    this(directory, output, Optional.empty());
  }

  @Override
  public Job prepare(Configuration conf) throws IOException {
    String table = output.table();
    checkTable(conf, table);
    Job job =
        CompleteJob.create(
            conf,
            "import " + directory + " into table " + table,
            ImportAvro.class,
            AvroKeyInputFormat.class);
    job.setInputFormatClass(AvroFiles.class);
    AvroJob.setInputKeySchema(job, mapping.map(RecordMapping::schema).orElse(AvroRows.ROW));
    AvroRows.keepVariables(job.getConfiguration(), AvroRows.INPUT_SCHEMA_KEY);
    AvroJob.setDataModelClass(job, GenericData.class);
    FileInputFormat.addInputPath(job, directory);
    job.getConfiguration().setBoolean(REPLACE_KEY, output.replace());
    job.setMapperClass(mapping.isPresent() ? RecordMapper.class : ImportMapper.class);
    Written.of(output).addTo(job);
    return job;
  }

  /** Fails now, and not in the tasks, if there is no table, or it lacks families of records. */
  private void checkTable(Configuration conf, String name) throws IOException {
    try (Stele stele = Stele.connect(conf)) {
      Table table = stele.table(name);
      if (mapping.isPresent()) {
        table.checkFamilies(mapping.get().query());
      }
    }
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

  /** Writes each record as its mapping says; without deletes where the table is replaced. */
  static final class RecordMapper extends MutationMapper<AvroKey<GenericRecord>, NullWritable> {
    private Optional<RecordMapping<GenericRecord>> mapping = Optional.empty();
    private boolean replaces;

    @Override
    protected void setup(Context context) {
      replaces = context.getConfiguration().getBoolean(REPLACE_KEY, false);
      mapping =
          Optional.of(RecordMapping.of(AvroJob.getInputKeySchema(context.getConfiguration())));
    }

    @Override
    protected void map(AvroKey<GenericRecord> record, NullWritable nothing, Context context)
        throws IOException, InterruptedException {
      RecordMapping<GenericRecord> rows = mapping.orElseThrow();
      if (!replaces) {
        write(rows.mutation(record.datum()), context);
        return;
      }
      Mutation puts =
          rows.newRow(record.datum()); // What was in the row is replaced with the table.
      if (!puts.edits().isEmpty()) {
        write(puts, context);
      }
    }
  }
}
