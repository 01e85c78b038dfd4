package io.stele.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.mapreduce.InputSplit;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.RecordReader;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.task.TaskAttemptContextImpl;
import org.junit.jupiter.api.Test;

class NumbersInputFormatTest {
  @Test
  void eachNumberComesOnceWithAnyNumberOfMappers() throws Exception {
    for (int maps : List.of(1, 3, 20)) {
      Job job = Job.getInstance(new Configuration());
      job.getConfiguration().setInt(MRJobConfig.NUM_MAPS, maps);
      NumbersInputFormat.set(job, 17, 1);
      NumbersInputFormat format = new NumbersInputFormat();
      List<Long> numbers = new ArrayList<>();
      for (InputSplit split : format.getSplits(job)) {
        TaskAttemptContextImpl context =
            new TaskAttemptContextImpl(job.getConfiguration(), new TaskAttemptID());
        try (RecordReader<LongWritable, NullWritable> reader =
            format.createRecordReader(split, context)) {
          while (reader.nextKeyValue()) {
            numbers.add(reader.getCurrentKey().get());
          }
        }
      }
      assertThat(numbers)
          .as("%d mappers", maps)
          .isEqualTo(LongStream.range(0, 17).boxed().toList());
    }
  }

  @Test
  void aNumberAndTheSeedDecideWhatIsMadeOfIt() {
    Configuration conf = new Configuration();
    conf.setLong("examples.seed", 5);
    long first = NumbersInputFormat.random(conf, 3).nextLong();
    assertThat(NumbersInputFormat.random(conf, 3).nextLong()).isEqualTo(first);
    assertThat(NumbersInputFormat.random(conf, 4).nextLong()).isNotEqualTo(first);
    conf.setLong("examples.seed", 6);
    assertThat(NumbersInputFormat.random(conf, 3).nextLong()).isNotEqualTo(first);
  }
}
