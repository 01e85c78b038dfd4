package io.stele.mapreduce.jobs;

import java.io.IOException;
import org.apache.avro.Schema;
import org.apache.avro.file.DataFileReader;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.mapred.AvroKey;
import org.apache.avro.mapred.FsInput;
import org.apache.avro.mapreduce.AvroJob;
import org.apache.avro.mapreduce.AvroKeyInputFormat;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.mapreduce.InputSplit;
import org.apache.hadoop.mapreduce.RecordReader;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.lib.input.FileSplit;

/**
 * Reads Avro container files. An error names the file, which Avro's own do not. A file is refused
 * whose numbers have other units than the reader takes them for ({@link AvroUnits}).
 */
final class AvroFiles extends AvroKeyInputFormat<GenericRecord> {
  @Override
  public RecordReader<AvroKey<GenericRecord>, NullWritable> createRecordReader(
      InputSplit split, TaskAttemptContext context) throws IOException, InterruptedException {
    return new Reader(super.createRecordReader(split, context));
  }

  /** The records of another reader, whose errors name the file. */
  private static final class Reader extends RecordReader<AvroKey<GenericRecord>, NullWritable> {
    private final RecordReader<AvroKey<GenericRecord>, NullWritable> records;
    private String file = "";

    Reader(RecordReader<AvroKey<GenericRecord>, NullWritable> records) {
      this.records = records;
    }

    private IOException named(Exception e) {
      return new IOException("cannot read Avro file " + file, e);
    }

    @Override
    public void initialize(InputSplit split, TaskAttemptContext context)
        throws IOException, InterruptedException {
      Path path = ((FileSplit) split).getPath();
      file = path.toString();
      try {
        checkUnits(path, context.getConfiguration());
        records.initialize(split, context);
      } catch (IOException | RuntimeException e) {
        throw named(e);
      }
    }

    private static void checkUnits(Path path, Configuration conf) throws IOException {
      Schema read = AvroJob.getInputKeySchema(conf);
      try (FsInput in = new FsInput(path, conf);
          DataFileReader<GenericRecord> header =
              new DataFileReader<>(in, new GenericDatumReader<GenericRecord>())) {
        AvroUnits.check(header.getSchema(), read);
      }
    }

    @Override
    public boolean nextKeyValue() throws IOException, InterruptedException {
      try {
        return records.nextKeyValue();
      } catch (IOException | RuntimeException e) { // Damaged bytes may fail in any way.
        throw named(e);
      }
    }

    @Override
    public AvroKey<GenericRecord> getCurrentKey() throws IOException, InterruptedException {
      return records.getCurrentKey();
    }

    @Override
    public NullWritable getCurrentValue() throws IOException, InterruptedException {
      return records.getCurrentValue();
    }

    @Override
    public float getProgress() throws IOException, InterruptedException {
      return records.getProgress();
    }

    @Override
    public void close() throws IOException {
      records.close();
    }
  }
}
