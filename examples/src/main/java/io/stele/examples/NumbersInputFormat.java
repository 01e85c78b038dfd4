package io.stele.examples;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.Writable;
import org.apache.hadoop.mapreduce.InputFormat;
import org.apache.hadoop.mapreduce.InputSplit;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.RecordReader;
import org.apache.hadoop.mapreduce.TaskAttemptContext;

/**
 * The input of jobs that generate data: the numbers from 0, divided among {@code
 * mapreduce.job.maps} mappers. The data generated for a number depends only on the number and the
 * seed, so it is the same with any number of mappers and in every attempt.
 */
public final class NumbersInputFormat extends InputFormat<LongWritable, NullWritable> {
  private static final String COUNT = "examples.numbers";
  private static final String SEED = "examples.seed";

  /** Has the job's mappers get the numbers from 0 to {@code count}, exclusive. */
  public static void set(Job job, long count, long seed) {
    job.setInputFormatClass(NumbersInputFormat.class);
    job.getConfiguration().setLong(COUNT, count);
    job.getConfiguration().setLong(SEED, seed);
  }

  /** What decides about all that is made of {@code number}. */
  public static SplittableRandom random(Configuration conf, long number) {
    return new SplittableRandom(new SplittableRandom(conf.getLong(SEED, 0)).nextLong() + number);
  }

  @Override
  public List<InputSplit> getSplits(JobContext context) {
    long count = context.getConfiguration().getLong(COUNT, 0);
    int maps = Math.max(1, context.getConfiguration().getInt(MRJobConfig.NUM_MAPS, 1));
    List<InputSplit> splits = new ArrayList<>();
    for (int i = 0; i < maps; i++) {
      splits.add(new Numbers(count * i / maps, count * (i + 1) / maps));
    }
    return splits;
  }

  @Override
  public RecordReader<LongWritable, NullWritable> createRecordReader(
      InputSplit split, TaskAttemptContext context) {
    return new Reader((Numbers) split);
  }

  /** Some numbers that follow one another. */
  static final class Numbers extends InputSplit implements Writable {
    private long from;
    private long to;

    Numbers() {} // For Hadoop.

    Numbers(long from, long to) {
      this.from = from;
      this.to = to;
    }

    @Override
    public long getLength() {
      return to - from;
    }

    @Override
    public String[] getLocations() {
      return new String[0];
    }

    @Override
    public void write(DataOutput out) throws IOException {
      out.writeLong(from);
      out.writeLong(to);
    }

    @Override
    public void readFields(DataInput in) throws IOException {
      from = in.readLong();
      to = in.readLong();
    }
  }

  private static final class Reader extends RecordReader<LongWritable, NullWritable> {
    private final Numbers numbers;
    private long next;

    Reader(Numbers numbers) {
      this.numbers = numbers;
      this.next = numbers.from;
    }

    @Override
    public void initialize(InputSplit split, TaskAttemptContext context) {}

    @Override
    public boolean nextKeyValue() {
      return next++ < numbers.to;
    }

    @Override
    public LongWritable getCurrentKey() {
      return new LongWritable(next - 1);
    }

    @Override
    public NullWritable getCurrentValue() {
      return NullWritable.get();
    }

    @Override
    public float getProgress() {
      return (float) (next - numbers.from) / Math.max(1, numbers.getLength());
    }

    @Override
    public void close() {}
  }
}
