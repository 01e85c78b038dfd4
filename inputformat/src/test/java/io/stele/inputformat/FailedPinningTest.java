package io.stele.inputformat;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.client.Stele;
import io.stele.model.RowQuery;
import io.stele.model.SteleException;
import io.stele.model.TableSchema;
import io.stele.sim.MiniStele;
import io.stele.sim.Site;
import java.io.IOException;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.JobID;
import org.apache.hadoop.mapreduce.task.JobContextImpl;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class FailedPinningTest {
  /** Fails when it is asked for the size of splits, after the job has begun and pinned. */
  private static final class FailingConf extends JobConf {
    private final Throwable failure;

    FailingConf(Throwable failure) {
      super(false);
      this.failure = failure;
    }

    private void fail(String name) {
      if (name.equals(TableInputFormat.SPLIT_BYTES_KEY)) {
        if (failure instanceof Error error) {
          throw error;
        }
        throw (RuntimeException) failure;
      }
    }

    @Override
    public String get(String name) {
      fail(name);
      return super.get(name);
    }

    @Override
    public String get(String name, String unset) {
      fail(name);
      return super.get(name, unset);
    }
  }

  @Test
  void aJobIsEndedWhateverFailsWhileItIsSubmitted() throws IOException {
    try (MiniStele cluster =
            MiniStele.start(MiniStele.quick(new Configuration(false)), Site.inMemory(), 1, 1);
        Stele stele = cluster.client()) {
      stele.admin().createTable(TableSchema.of("t", "f"));
      for (Throwable failure :
          List.of(SteleException.refused("wrong"), new NoClassDefFoundError("not in the jars"))) {
        JobContext context =
            new JobContextImpl(new FailingConf(failure), new JobID("submission", 1));
        assertThatThrownBy(
                () ->
                    TableInputFormat.pinnedSplits(
                        stele, context, List.of(new TableScan("t", RowQuery.ALL))))
            .isSameAs(failure);
        assertThat(failure.getSuppressed()).isEmpty();
        assertThat(stele.admin().listJobs()).as("after " + failure).isEmpty();
      }
    }
  }
}
