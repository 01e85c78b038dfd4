package io.stele.outputformat;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.model.SteleException;
import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.lib.input.MultipleInputs;
import org.apache.hadoop.mapreduce.lib.input.TextInputFormat;
import org.apache.hadoop.mapreduce.lib.map.MultithreadedMapper;
import org.junit.jupiter.api.Test;

class RepeatableWritesTest {
  private static Configuration reading(String how, String format) {
    Configuration conf = new Configuration(false);
    conf.set("mapreduce.stele.input.read", how);
    conf.set("mapreduce.job.inputformat.class", format);
    return conf;
  }

  private static final String TABLES = "io.stele.inputformat.TableInputFormat";
  private static final String TEXTS = "org.apache.hadoop.mapreduce.lib.input.TextInputFormat";

  @Test
  void theLatestRowsOfTablesAreAllowedOnlyIfSomebodySaysSo() {
    Configuration conf = reading("latest", TABLES);
    assertThatThrownBy(() -> RepeatableWrites.check(conf))
        .isInstanceOf(SteleException.class)
        .hasMessageContaining("mapreduce.stele.input.read is latest")
        .hasMessageContaining("set mapreduce.stele.output.latest.allowed to true");
    conf.set("mapreduce.stele.output.latest.allowed", "yes");
    assertThatThrownBy(() -> RepeatableWrites.check(conf)).hasMessageContaining("true or false");
    conf.set("mapreduce.stele.output.latest.allowed", "true");
    assertThatCode(() -> RepeatableWrites.check(conf)).doesNotThrowAnyException();
  }

  @Test
  void whatIsPinnedOrNoTableIsAllowed() {
    assertThatCode(() -> RepeatableWrites.check(reading("pinned", TABLES)))
        .doesNotThrowAnyException();
    assertThatCode(() -> RepeatableWrites.check(reading("latest", TEXTS)))
        .doesNotThrowAnyException();
    assertThatCode(() -> RepeatableWrites.check(new Configuration(false)))
        .doesNotThrowAnyException();
  }

  @Test
  void mappersOfSeveralThreadsDoNotWriteAtOnce() throws IOException {
    Job job = Job.getInstance(new Configuration(false));
    job.setMapperClass(MultithreadedMapper.class);
    assertThatCode(() -> RepeatableWrites.check(job.getConfiguration()))
        .as("reducers write")
        .doesNotThrowAnyException();
    job.setNumReduceTasks(0);
    assertThatThrownBy(() -> RepeatableWrites.check(job.getConfiguration()))
        .isInstanceOf(SteleException.class)
        .hasMessageContaining("from several threads (MultithreadedMapper)");
    MultithreadedMapper.setNumberOfThreads(job, 1);
    assertThatCode(() -> RepeatableWrites.check(job.getConfiguration())).doesNotThrowAnyException();

    Job several = Job.getInstance(new Configuration(false));
    MultipleInputs.addInputPath(
        several, new Path("file:///texts"), TextInputFormat.class, MultithreadedMapper.class);
    several.setNumReduceTasks(0);
    assertThatThrownBy(() -> RepeatableWrites.check(several.getConfiguration()))
        .hasMessageContaining("from several threads");
  }
}
