package io.stele.benchmarks;

import io.stele.inputformat.TableInputFormat;
import io.stele.mapreduce.SteleJob;
import io.stele.model.Bytes;
import io.stele.model.Row;
import io.stele.model.RowQuery;
import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.mapreduce.InputSplit;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.RecordReader;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.lib.input.FileSplit;
import org.apache.hadoop.mapreduce.lib.input.SequenceFileInputFormat;
import org.apache.hadoop.mapreduce.lib.output.NullOutputFormat;

/** Jobs that read the same cells from different places, and count their bytes. */
final class JobInputs {
  /** What they count. */
  enum Counter {
    BYTES
  }

  private JobInputs() {}

  /** The local runner has all classes. No job that is compared copies any. */
  static Job withoutJars(Job job) {
    job.getConfiguration().unset("tmpjars");
    return job;
  }

  private static Job counting(Job job, Class<? extends Mapper<?, ?, ?, ?>> mapper) {
    job.setMapperClass(mapper);
    job.setNumReduceTasks(0);
    job.setOutputFormatClass(NullOutputFormat.class);
    return job;
  }

  /** Reads files as they are, and looks at nothing. */
  static Job raw(Configuration conf, Path files) throws IOException {
    return counting(below(conf, "raw", files, RawInputFormat.class), RawMapper.class);
  }

  /** Reads files of tables and checks their blocks, and looks at no cell. */
  static Job checked(Configuration conf, Path files) throws IOException {
    return counting(below(conf, "checked", files, CheckedInputFormat.class), CheckedMapper.class);
  }

  /** A job over all files below a directory. */
  private static Job below(
      Configuration conf, String name, Path files, Class<? extends FileInputFormat<?, ?>> format)
      throws IOException {
    Job job = Job.getInstance(conf, name);
    FileInputFormat.addInputPath(job, files);
    FileInputFormat.setInputDirRecursive(job, true);
    job.setInputFormatClass(format);
    return job;
  }

  static Job sequence(Configuration conf, Path files) throws IOException {
    Job job = Job.getInstance(conf, "sequence");
    FileInputFormat.addInputPath(job, files);
    job.setInputFormatClass(SequenceFileInputFormat.class);
    return counting(job, SequenceMapper.class);
  }

  /** Reads a table, {@code direct} or {@code served}. */
  static Job table(Configuration conf, String table, String mode) throws IOException {
    Job job = withoutJars(SteleJob.create(conf, mode, JobInputs.class));
    TableInputFormat.addTable(job, table, RowQuery.ALL);
    job.getConfiguration().set(TableInputFormat.MODE_KEY, mode);
    return counting(job, TableMapper.class);
  }

  /** A split as pieces of it, read into one buffer. */
  public static final class RawInputFormat extends FileInputFormat<LongWritable, BytesWritable> {
    @Override
    public RecordReader<LongWritable, BytesWritable> createRecordReader(
        InputSplit split, TaskAttemptContext context) {
      return new RawReader();
    }
  }

  private static final class RawReader extends RecordReader<LongWritable, BytesWritable> {
    private final BytesWritable piece = new BytesWritable(new byte[4 << 20]);
    private final LongWritable key = new LongWritable();
    private FSDataInputStream in;
    private long left;
    private long length;

    @Override
    public void initialize(InputSplit split, TaskAttemptContext context) throws IOException {
      FileSplit file = (FileSplit) split;
      in = file.getPath().getFileSystem(context.getConfiguration()).open(file.getPath());
      in.seek(file.getStart());
      left = file.getLength();
      length = left;
    }

    @Override
    public boolean nextKeyValue() throws IOException {
      byte[] buffer = piece.getBytes();
      int count = (int) Math.min(left, buffer.length);
      in.readFully(buffer, 0, count);
      piece.setSize(count);
      left -= count;
      return count > 0;
    }

    @Override
    public LongWritable getCurrentKey() {
      return key;
    }

    @Override
    public BytesWritable getCurrentValue() {
      return piece;
    }

    @Override
    public float getProgress() {
      return 1 - (float) left / Math.max(1, length);
    }

    @Override
    public void close() throws IOException {
      in.close();
    }
  }

  /** Adds up, and tells the job's counter in the end: what is measured is reading. */
  private abstract static class AddingMapper<K, V>
      extends Mapper<K, V, NullWritable, NullWritable> {
    private long bytes;

    void add(long more) {
      bytes += more;
    }

    @Override
    protected void cleanup(Context context) {
      context.getCounter(Counter.BYTES).increment(bytes);
    }
  }

  /** Counts. */
  public static final class RawMapper extends AddingMapper<LongWritable, BytesWritable> {
    @Override
    protected void map(LongWritable key, BytesWritable value, Context context) {
      add(value.getLength());
    }
  }

  /** Counts. */
  public static final class CheckedMapper extends AddingMapper<LongWritable, NullWritable> {
    @Override
    protected void map(LongWritable checkedBytes, NullWritable value, Context context) {
      add(checkedBytes.get());
    }
  }

  /** Counts. */
  public static final class SequenceMapper extends AddingMapper<BytesWritable, BytesWritable> {
    @Override
    protected void map(BytesWritable key, BytesWritable value, Context context) {
      add(value.getLength());
    }
  }

  /** Counts. */
  public static final class TableMapper extends AddingMapper<Bytes, Row> {
    @Override
    protected void map(Bytes key, Row row, Context context) {
      add(row.cells().get(0).value().length());
    }
  }
}
