package io.stele.mapreduce.jobs;

import io.stele.mapreduce.RecordMapping;
import io.stele.model.Bytes;
import io.stele.model.Row;
import io.stele.model.RowQuery;
import io.stele.model.SteleException;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.mapred.AvroKey;
import org.apache.avro.mapreduce.AvroJob;
import org.apache.avro.mapreduce.AvroKeyOutputFormat;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.apache.hadoop.mapreduce.lib.output.NullOutputFormat;

/**
 * Writes rows to Avro container files, as they were when the job was submitted. Their schema is
 * that of {@link AvroRows}, or of a mapping.
 *
 * @param input what is exported
 * @param directory where to; must not exist
 * @param mapping makes records of the rows, and says which columns they need; none: all cells are
 *     exported
 * @param dryRun whether nothing is written, and the job only reports what it would write
 */
public record ExportAvro(
    TableInput input,
    Path directory,
    Optional<RecordMapping<GenericRecord>> mapping,
    boolean dryRun)
    implements TableJob {
  public ExportAvro {
    RowQuery query = input.query();
    if (mapping.isPresent() && !(query.families().isEmpty() && query.columns().isEmpty())) {
      throw SteleException.refused(
          "the schema of records says which columns are exported: name none besides");
    }
    if (mapping.isPresent() && query.versions() != Integer.MAX_VALUE) {
      throw SteleException.refused("records have one version of each column: leave versions out");
    }
  }

  /** An export of all cells. */
  public ExportAvro(TableInput input, Path directory) {
    this(input, directory, Optional.empty(), false);
  }

  /** An export of records, or of all cells. */
  public ExportAvro(
      TableInput input, Path directory, Optional<RecordMapping<GenericRecord>> mapping) {
    this(input, directory, mapping, false);
  }

  @Override
  public Job prepare(Configuration conf) throws IOException {
    checkDirectory(conf);
    Job job =
        CompleteJob.create(
            conf, "export table " + input.table(), ExportAvro.class, AvroKeyOutputFormat.class);
    mapping
        .map(records -> new TableInput(input.table(), narrowed(records.query())))
        .orElse(input)
        .addTo(job);
    job.setMapperClass(mapping.isPresent() ? RecordMapper.class : ExportMapper.class);
    job.setNumReduceTasks(0);
    job.setOutputFormatClass(dryRun ? NullOutputFormat.class : AvroKeyOutputFormat.class);
    AvroJob.setOutputKeySchema(job, mapping.map(RecordMapping::schema).orElse(AvroRows.ROW));
    AvroRows.keepVariables(job.getConfiguration(), AvroRows.OUTPUT_SCHEMA_KEY);
    AvroJob.setDataModelClass(job, GenericData.class);
    FileOutputFormat.setCompressOutput(job, true);
    FileOutputFormat.setOutputPath(job, directory);
    return job;
  }

  /** The columns of records, in the rows, the times and with the filter of the input. */
  private RowQuery narrowed(RowQuery records) {
    RowQuery query = input.query();
    RowQuery narrow = records.times(query.times());
    if (!query.ranges().isEmpty()) { // Else all rows.
      narrow = narrow.withRanges(query.ranges());
    }
    return query.filter().map(narrow::filter).orElse(narrow);
  }

  /** The output format would only refuse it when it writes; a dry run is to say so too. */
  private void checkDirectory(Configuration conf) throws IOException {
    if (directory.getFileSystem(conf).exists(directory)) {
      throw SteleException.refused(
          "directory " + directory + " exists: name one that does not, or delete it");
    }
  }

  @Override
  public Report report(Job finished) throws IOException {
    String rows = CountRows.Result.of(finished).text();
    return Report.good(
        List.of(
            dryRun
                ? "Dry run: " + rows + " would be written to Avro files in " + directory + "."
                : rows + " written to Avro files in " + directory + "."));
  }

  /** Passes each row on as a record. */
  static final class ExportMapper extends Mapper<Bytes, Row, AvroKey<GenericRecord>, NullWritable> {
    @Override
    protected void map(Bytes key, Row row, Context context)
        throws IOException, InterruptedException {
      context.write(new AvroKey<>(AvroRows.encode(row)), NullWritable.get());
    }
  }

  /** Makes a record of each row. */
  static final class RecordMapper extends Mapper<Bytes, Row, AvroKey<GenericRecord>, NullWritable> {
    private Optional<RecordMapping<GenericRecord>> mapping = Optional.empty();

    @Override
    protected void setup(Context context) {
      mapping =
          Optional.of(RecordMapping.of(AvroJob.getOutputKeySchema(context.getConfiguration())));
    }

    @Override
    protected void map(Bytes key, Row row, Context context)
        throws IOException, InterruptedException {
      context.write(new AvroKey<>(mapping.orElseThrow().record(row)), NullWritable.get());
    }
  }
}
