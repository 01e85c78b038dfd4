package io.stele.benchmarks;

import io.stele.mapreduce.SteleJob;
import io.stele.model.Bytes;
import io.stele.model.Mutation;
import io.stele.outputformat.TableOutputFormat;
import java.io.IOException;
import java.util.Arrays;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.Partitioner;
import org.apache.hadoop.mapreduce.Reducer;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.lib.input.SequenceFileInputFormat;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.apache.hadoop.mapreduce.lib.output.SequenceFileOutputFormat;

/** Jobs that write the records of a SequenceFile to different places. */
final class JobOutputs {
  private static final String MIDDLE_KEY = "benchmark.middle";

  private JobOutputs() {}

  private static Job reading(Job job, Path from, Class<? extends Mapper<?, ?, ?, ?>> mapper)
      throws IOException {
    FileInputFormat.addInputPath(job, from);
    job.setInputFormatClass(SequenceFileInputFormat.class);
    job.setMapperClass(mapper);
    return job;
  }

  /** Sorts them into two SequenceFiles, one below {@code middle} and one from it on. */
  static Job sequence(Configuration conf, Path from, Path to, String middle) throws IOException {
    conf.set(MIDDLE_KEY, middle);
    Job job = reading(Job.getInstance(conf, "sorted"), from, KeepMapper.class);
    job.setOutputKeyClass(BytesWritable.class);
    job.setOutputValueClass(BytesWritable.class);
    job.setPartitionerClass(Halves.class);
    job.setReducerClass(Reducer.class);
    job.setNumReduceTasks(2);
    job.setOutputFormatClass(SequenceFileOutputFormat.class);
    FileOutputFormat.setOutputPath(job, to);
    return job;
  }

  /** Writes them as files of an empty table, with two reducers at most. */
  static Job bulk(Configuration conf, Path from, String table) throws IOException {
    Job job = reading(SteleJob.create(conf, "bulk", JobOutputs.class), from, MutationMapper.class);
    SteleJob.bulkInto(job, table, 2, "f");
    return JobInputs.withoutJars(job);
  }

  /** Writes them as files of an empty table, which mappers sort; two tablets at most. */
  static Job bulkWithoutReduce(Configuration conf, Path from, String table) throws IOException {
    Job job =
        reading(SteleJob.create(conf, "bulk-map", JobOutputs.class), from, MutationMapper.class);
    SteleJob.bulkWithoutReduce(job, table, 2, "f");
    return JobInputs.withoutJars(job);
  }

  /** Writes them through the tablet servers. */
  static Job live(Configuration conf, Path from, String table) throws IOException {
    Job job = reading(SteleJob.create(conf, "live", JobOutputs.class), from, MutationMapper.class);
    job.setNumReduceTasks(0);
    TableOutputFormat.addTable(job, table, "f");
    return JobInputs.withoutJars(job);
  }

  /** Rows below the middle, and others. */
  public static final class Halves extends Partitioner<BytesWritable, BytesWritable>
      implements org.apache.hadoop.conf.Configurable {
    private Configuration conf = new Configuration(false);
    private byte[] middle = new byte[0];

    @Override
    public void setConf(Configuration conf) {
      this.conf = conf;
      this.middle = Bytes.of(conf.get(MIDDLE_KEY, "")).toByteArray();
    }

    @Override
    public Configuration getConf() {
      return conf;
    }

    @Override
    public int getPartition(BytesWritable key, BytesWritable value, int parts) {
      int order =
          Arrays.compareUnsigned(key.getBytes(), 0, key.getLength(), middle, 0, middle.length);
      return order < 0 ? 0 : 1;
    }
  }

  /** A record as it is. */
  public static final class KeepMapper
      extends Mapper<BytesWritable, BytesWritable, BytesWritable, BytesWritable> {}

  /** A record as a put. */
  public static final class MutationMapper
      extends Mapper<BytesWritable, BytesWritable, Bytes, Mutation> {
    @Override
    protected void map(BytesWritable key, BytesWritable value, Context context)
        throws IOException, InterruptedException {
      Bytes row = Bytes.of(Arrays.copyOf(key.getBytes(), key.getLength()));
      byte[] copy = Arrays.copyOf(value.getBytes(), value.getLength());
      context.write(row, Mutation.of(row).put("f", "q", copy));
    }
  }
}
