package io.stele.outputformat;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Reducer;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;

/** What is set for reducers, and when it is left alone. */
class ReduceMemoryTest {
  private static final String KEY = "mapreduce.reduce.input.buffer.percent";
  private static final Offset<Float> NEARLY = within(0.001f);

  /** Changes nothing either, but MapReduce cannot know. */
  static final class OwnReducer extends Reducer<Object, Object, Object, Object> {}

  private static float kept(Job job) {
    ReduceMemory.set(job);
    return job.getConfiguration().getFloat(KEY, -1);
  }

  @Test
  void mapOutputStaysInMemoryWhileItIsWritten() throws IOException {
    Configuration conf = new Configuration();
    conf.set("mapreduce.framework.name", "yarn");
    assertThat(kept(Job.getInstance(conf))).isCloseTo(0.7f, NEARLY);
  }

  @Test
  void reducersOfTheLocalRunnerShareOneHeap() throws IOException {
    Configuration conf = new Configuration();
    conf.setInt("mapreduce.local.reduce.tasks.maximum", 2);
    assertThat(kept(Job.getInstance(conf))).isCloseTo(0.35f, NEARLY);
  }

  @Test
  void aReducerOfTheJobHasItsMemory() throws IOException {
    Job job = Job.getInstance(new Configuration());
    job.setReducerClass(OwnReducer.class);
    assertThat(kept(job)).isZero();
  }

  @Test
  void whatIsSetStays() throws IOException {
    Configuration conf = new Configuration();
    conf.setFloat(KEY, 0);
    assertThat(kept(Job.getInstance(conf))).isZero();
    conf.setFloat(KEY, 0.2f);
    assertThat(kept(Job.getInstance(conf))).isCloseTo(0.2f, NEARLY);
  }
}
