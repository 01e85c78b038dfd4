package io.stele.outputformat;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.model.SteleException;
import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.lib.map.MultithreadedMapper;
import org.junit.jupiter.api.Test;

class DifferentAttemptsTest {
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
    assertThatThrownBy(() -> DifferentAttempts.check(conf))
        .isInstanceOf(SteleException.class)
        .hasMessageContaining("mapreduce.stele.input.read is latest")
        .hasMessageContaining("set mapreduce.stele.output.latest.allowed to true");
    conf.set("mapreduce.stele.output.latest.allowed", "yes");
    assertThatThrownBy(() -> DifferentAttempts.check(conf)).hasMessageContaining("true or false");
    conf.set("mapreduce.stele.output.latest.allowed", "true");
    assertThatCode(() -> DifferentAttempts.check(conf)).doesNotThrowAnyException();
  }

  @Test
  void whatIsPinnedOrNoTableIsAllowed() {
    assertThatCode(() -> DifferentAttempts.check(reading("pinned", TABLES)))
        .doesNotThrowAnyException();
    assertThatCode(() -> DifferentAttempts.check(reading("latest", TEXTS)))
        .doesNotThrowAnyException();
    assertThatCode(() -> DifferentAttempts.check(new Configuration(false)))
        .doesNotThrowAnyException();
  }

  @Test
  void mappersOfSeveralThreadsDoNotWriteAtOnce() throws IOException {
    Job job = Job.getInstance(new Configuration(false));
    job.setMapperClass(MultithreadedMapper.class);
    assertThatCode(() -> DifferentAttempts.check(job.getConfiguration()))
        .as("reducers write")
        .doesNotThrowAnyException();
    job.setNumReduceTasks(0);
    assertThatThrownBy(() -> DifferentAttempts.check(job.getConfiguration()))
        .isInstanceOf(SteleException.class)
        .hasMessageContaining("from several threads (MultithreadedMapper)");
  }
}
