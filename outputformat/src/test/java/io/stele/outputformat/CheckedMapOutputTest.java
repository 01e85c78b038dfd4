package io.stele.outputformat;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.client.AnyOperation;
import io.stele.config.Keys;
import io.stele.model.RowOperation;
import io.stele.model.SteleException;
import java.io.IOException;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.JobID;
import org.apache.hadoop.mapreduce.OutputFormat;
import org.apache.hadoop.mapreduce.task.JobContextImpl;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Of jobs of a cluster that does not answer: what is refused is refused before anybody is asked.
 */
@Timeout(60)
class CheckedMapOutputTest {
  private static final List<OutputFormat<?, ?>> FORMATS =
      List.of(new TableOutputFormat<>(), new BulkOutputFormat<>());

  private static Job job(OutputFormat<?, ?> format) throws IOException {
    Configuration conf = new Configuration(false);
    conf.set(Keys.ZOOKEEPER_QUORUM.name(), "localhost:1");
    conf.set(Keys.CLIENT_TIMEOUT.name(), "100ms");
    conf.set(Keys.SESSION_TIMEOUT.name(), "1s");
    conf.set(Keys.LEASE.name(), "1s");
    Job job = Job.getInstance(conf);
    if (format instanceof BulkOutputFormat) {
      BulkOutputFormat.addTable(job, "t");
    } else {
      TableOutputFormat.addTable(job, "t");
    }
    return job;
  }

  @Test
  void valuesThatMapReduceCannotSendAreRefusedWhenItSubmits() throws IOException {
    for (OutputFormat<?, ?> format : FORMATS) {
      Job job = job(format);
      job.setOutputValueClass(RowOperation.class);
      assertThatThrownBy(() -> format.checkOutputSpecs(job))
          .isInstanceOf(SteleException.class)
          .hasMessageContaining("MapReduce takes values of exactly one class");
      job.setOutputValueClass(AnyOperation.class);
      assertThatThrownBy(() -> format.checkOutputSpecs(job))
          .isInstanceOf(SteleException.class)
          .hasMessageContaining("a reducer that writes value.operation()");
    }
  }

  @Test
  void thatOthersNameTheClassOfOutputIsNotRefused() throws IOException {
    for (OutputFormat<?, ?> format : FORMATS) {
      Job job = job(format); // As Spark programs make one, for its configuration.
      job.setOutputValueClass(RowOperation.class);
      JobContext context = new JobContextImpl(job.getConfiguration(), new JobID("spark", 1));
      assertThatThrownBy(() -> format.checkOutputSpecs(context))
          .as("gets as far as to the cluster, which does not answer")
          .hasMessageContaining("no ZooKeeper server answers");
    }
  }
}
