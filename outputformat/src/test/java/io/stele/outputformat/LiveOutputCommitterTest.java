package io.stele.outputformat;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.config.Keys;
import java.io.IOException;
import java.io.InterruptedIOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.JobID;
import org.apache.hadoop.mapreduce.JobStatus;
import org.apache.hadoop.mapreduce.task.JobContextImpl;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class LiveOutputCommitterTest {
  /** A job of a cluster that does not answer. */
  private static JobContext context() {
    Configuration conf = new Configuration(false);
    conf.set(TableOutputFormat.JOB_KEY, "0".repeat(32) + "-" + "0".repeat(32));
    conf.set(Keys.ZOOKEEPER_QUORUM.name(), "localhost:1");
    conf.set(Keys.CLIENT_TIMEOUT.name(), "100ms");
    conf.set(Keys.SESSION_TIMEOUT.name(), "1s");
    conf.set(Keys.LEASE.name(), "1s");
    return new JobContextImpl(conf, new JobID("test", 1));
  }

  @Test
  void aJobWhoseOutputIsAppliedSucceedsThoughNoMasterAnswers() throws IOException {
    JobContext context = context();
    new LiveOutputCommitter().commitJob(context);
    assertThatThrownBy(() -> new LiveOutputCommitter().abortJob(context, JobStatus.State.FAILED))
        .as("as is said of a job that fails")
        .isInstanceOf(Exception.class);
  }

  @Test
  void anInterruptedCommitDoesNotSucceed() {
    JobContext context = context();
    Thread.currentThread().interrupt();
    try {
      assertThatThrownBy(() -> new LiveOutputCommitter().commitJob(context))
          .isInstanceOf(InterruptedIOException.class);
    } finally {
      Thread.interrupted();
    }
  }
}
