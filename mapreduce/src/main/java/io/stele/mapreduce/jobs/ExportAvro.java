package io.stele.mapreduce.jobs;

import io.stele.mapreduce.SteleJob;
import io.stele.model.Bytes;
import io.stele.model.Row;
import java.io.IOException;
import java.util.List;
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

/**
 * Writes rows to Avro container files, as they were when the job was submitted; {@link AvroRows}
 * has their schema.
 *
 * @param input what is exported
 * @param directory where to; must not exist
 */
public record ExportAvro(TableInput input, Path directory) implements TableJob {
  @Override
  public Job prepare(Configuration conf) throws IOException {
    Job job =
        SteleJob.create(
            conf, "export table " + input.table(), ExportAvro.class, AvroKeyOutputFormat.class);
    input.addTo(job);
    job.setMapperClass(ExportMapper.class);
    job.setNumReduceTasks(0);
    job.setOutputFormatClass(AvroKeyOutputFormat.class);
    AvroJob.setOutputKeySchema(job, AvroRows.ROW);
    FileOutputFormat.setCompressOutput(job, true);
    FileOutputFormat.setOutputPath(job, directory);
    return job;
  }

  @Override
  public Report report(Job finished) throws IOException {
    return Report.good(
        List.of(CountRows.Result.of(finished).text() + ", to files of Avro in " + directory + "."));
  }

  /** Passes each row on as a record. */
  static final class ExportMapper extends Mapper<Bytes, Row, AvroKey<GenericRecord>, NullWritable> {
    @Override
    protected void map(Bytes key, Row row, Context context)
        throws IOException, InterruptedException {
      context.write(new AvroKey<>(AvroRows.encode(row)), NullWritable.get());
    }
  }
}
