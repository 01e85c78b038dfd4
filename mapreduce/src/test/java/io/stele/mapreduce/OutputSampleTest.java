package io.stele.mapreduce;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.model.Bytes;
import io.stele.model.Mutation;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.Writable;
import org.apache.hadoop.mapreduce.InputFormat;
import org.apache.hadoop.mapreduce.InputSplit;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.RecordReader;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.junit.jupiter.api.Test;

class OutputSampleTest {
  private static final int RECORDS = 1_000_000;
  private static final AtomicInteger BEGUN = new AtomicInteger();
  private static final AtomicInteger READ = new AtomicInteger();

  @Test
  void fewPartsNeedASmallSample() throws IOException {
    sample(2, SortedMapper.class);
    assertThat(BEGUN.get()).isEqualTo(16);
    assertThat(READ.get()).isBetween(9_000, 10_000);
  }

  @Test
  void manyPartsGetALargerOne() throws IOException {
    sample(200, SortedMapper.class);
    assertThat(BEGUN.get()).isEqualTo(64);
    assertThat(READ.get()).isBetween(39_000, 40_000);
  }

  @Test
  void partsAreAboutEqual() throws IOException {
    for (int parts : new int[] {2, 3, 8}) {
      for (Class<? extends NumberMapper> mapper : List.of(SortedMapper.class, MixedMapper.class)) {
        List<Integer> starts = sample(parts, mapper);
        assertThat(starts).as("%d parts", parts).hasSize(parts - 1);
        int last = 0;
        List<Integer> all = new ArrayList<>(starts);
        all.add(RECORDS);
        for (int start : all) {
          assertThat((double) (start - last) * parts / RECORDS)
              .as("part of %s before %d of %d", mapper.getSimpleName(), start, parts)
              .isBetween(0.75, 1.25);
          last = start;
        }
      }
    }
  }

  private static List<Integer> sample(int parts, Class<? extends NumberMapper> mapper)
      throws IOException {
    Job job = Job.getInstance(new Configuration(false));
    job.setInputFormatClass(Numbers.class);
    job.setMapperClass(mapper);
    BEGUN.set(0);
    READ.set(0);
    return OutputSample.of(job, parts).starts(parts, 1).stream()
        .map(row -> Integer.parseInt(row.toUtf8()))
        .toList();
  }

  /** Writes a row for each number. */
  abstract static class NumberMapper extends Mapper<LongWritable, NullWritable, Bytes, Mutation> {
    abstract long row(long number);

    @Override
    protected void map(LongWritable key, NullWritable value, Context context)
        throws IOException, InterruptedException {
      Bytes row = Bytes.of(String.format(Locale.ROOT, "%07d", row(key.get())));
      context.write(row, Mutation.of(row).put("f", "q", "value"));
    }
  }

  static final class SortedMapper extends NumberMapper {
    @Override
    long row(long number) {
      return number;
    }
  }

  static final class MixedMapper extends NumberMapper {
    @Override
    long row(long number) {
      return number * 618_033 % RECORDS; // No common divisor: each once.
    }
  }

  /** All numbers, each as a byte of input. */
  static final class Numbers extends InputFormat<LongWritable, NullWritable> {
    @Override
    public List<InputSplit> getSplits(JobContext context) {
      long size = Math.min(RECORDS, FileInputFormat.getMaxSplitSize(context));
      List<InputSplit> splits = new ArrayList<>();
      for (long start = 0; start < RECORDS; start += size) {
        splits.add(new Range(start, Math.min(RECORDS, start + size)));
      }
      return splits;
    }

    @Override
    public RecordReader<LongWritable, NullWritable> createRecordReader(
        InputSplit split, TaskAttemptContext context) {
      return new Reader();
    }
  }

  static final class Range extends InputSplit implements Writable {
    private final long start;
    private final long end;

    Range(long start, long end) {
      this.start = start;
      this.end = end;
    }

    @Override
    public long getLength() {
      return end - start;
    }

    @Override
    public String[] getLocations() {
      return new String[0];
    }

    @Override
    public void write(DataOutput out) {
      throw new UnsupportedOperationException("it is read here");
    }

    @Override
    public void readFields(DataInput in) {
      throw new UnsupportedOperationException("it is read here");
    }
  }

  private static final class Reader extends RecordReader<LongWritable, NullWritable> {
    private final LongWritable key = new LongWritable();
    private long start;
    private long next;
    private long end;

    @Override
    public void initialize(InputSplit split, TaskAttemptContext context) {
      BEGUN.incrementAndGet();
      start = ((Range) split).start;
      next = start;
      end = ((Range) split).end;
    }

    @Override
    public boolean nextKeyValue() {
      if (next == end) {
        return false;
      }
      READ.incrementAndGet();
      key.set(next++);
      return true;
    }

    @Override
    public LongWritable getCurrentKey() {
      return key;
    }

    @Override
    public NullWritable getCurrentValue() {
      return NullWritable.get();
    }

    @Override
    public float getProgress() {
      return (float) (next - start) / (end - start);
    }

    @Override
    public void close() {}
  }
}
