package io.stele.outputformat;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Reducer;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;

/** What is set for mappers and reducers, and when it is left alone. */
class ShuffleMemoryTest {
  private static final String SORT_KEY = "mapreduce.task.io.sort.mb";
  private static final String KEY = "mapreduce.reduce.input.buffer.percent";
  private static final Offset<Float> NEARLY = within(0.001f);

  /** Changes nothing either, but MapReduce cannot know. */
  static final class OwnReducer extends Reducer<Object, Object, Object, Object> {}

  private static float kept(Job job) {
    ShuffleMemory.set(job);
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

  private static int sortMb(Configuration conf, long localHeapMb) {
    ShuffleMemory.setSorting(conf, localHeapMb << 20);
    return conf.getInt(SORT_KEY, -1);
  }

  private static Configuration onYarn() {
    Configuration conf = new Configuration();
    conf.set("mapreduce.framework.name", "yarn");
    return conf;
  }

  @Test
  void mappersSortInAQuarterOfTheirHeap() {
    Configuration byOptions = onYarn();
    byOptions.set("mapreduce.map.java.opts", "-Xmx800m -XX:+UseSerialGC");
    assertThat(sortMb(byOptions, 4096)).isEqualTo(200);
    Configuration byContainer = onYarn();
    byContainer.setInt("mapreduce.map.memory.mb", 1000); // Of which 0.8 are the heap.
    assertThat(sortMb(byContainer, 4096)).isEqualTo(200);
  }

  @Test
  void mappersWithMuchMemorySortInNoMoreThanASplitNeeds() {
    Configuration conf = onYarn();
    conf.set("mapreduce.map.java.opts", "-Xmx8g");
    assertThat(sortMb(conf, 100)).isEqualTo(256);
  }

  @Test
  void mappersWithLittleMemorySortInTheDefault() {
    Configuration conf = onYarn();
    conf.set("mapreduce.map.java.opts", "-Xmx320m");
    assertThat(sortMb(conf, 4096)).isEqualTo(100);
  }

  @Test
  void mappersOfTheLocalRunnerShareOneHeap() {
    Configuration conf = new Configuration();
    conf.setInt("mapreduce.local.map.tasks.maximum", 4);
    assertThat(sortMb(conf, 2048)).isEqualTo(128);
  }

  @Test
  void theMemoryForSortingThatIsSetStays() {
    Configuration conf = onYarn();
    conf.set("mapreduce.map.java.opts", "-Xmx8g");
    conf.setInt(SORT_KEY, 64);
    assertThat(sortMb(conf, 4096)).isEqualTo(64);
  }
}
