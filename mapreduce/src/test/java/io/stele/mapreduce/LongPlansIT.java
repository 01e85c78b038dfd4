package io.stele.mapreduce;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.client.Stele;
import io.stele.inputformat.TableInputFormat;
import io.stele.inputformat.TableSplit;
import io.stele.lock.LockPaths;
import io.stele.lock.LockService;
import io.stele.metadata.JobNodes;
import io.stele.model.Mutation;
import io.stele.model.RowQuery;
import io.stele.model.TableSchema;
import io.stele.outputformat.BulkOutputFormat;
import io.stele.runtime.SystemRuntime;
import io.stele.sim.MiniStele;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.InputSplit;
import org.apache.hadoop.mapreduce.Job;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Jobs whose splits take longer to plan than their leases last. */
class LongPlansIT {
  private static final String SOURCE = "source";
  private static final String LEASE = "5s";

  /** At least so often a job is renewed in a lease, and once more when that begins. */
  private static final int RENEWALS = 4;

  @TempDir static Path scratch;
  private static HdfsCluster cluster;
  private static Stele client;

  @BeforeAll
  static void start() throws Exception {
    cluster = new HdfsCluster(scratch.toFile());
    client = cluster.stele().client();
    client.admin().createTable(TableSchema.of(SOURCE, "f"));
    client.admin().createTable(TableSchema.of("target", "f"));
    client.table(SOURCE).mutate(Mutation.of("row").put("f", "q", "value"));
  }

  @AfterAll
  static void stop() throws Exception {
    cluster.close();
  }

  @AfterEach
  void endJobs() throws IOException {
    for (String job : cluster.stele().locks().children(LockPaths.JOBS)) {
      client.jobs().end(job);
    }
  }

  /** Once there are jobs, asking for the size of splits takes as long as a lease of each. */
  private static final class SlowPlan extends JobConf {
    private boolean asked;

    SlowPlan(Configuration conf) {
      super(conf);
    }

    @Override
    public String get(String name) {
      if (name.equals(TableInputFormat.SPLIT_BYTES_KEY) && !asked) {
        try {
          wait(cluster.stele().locks());
        } catch (IOException e) {
          throw new UncheckedIOException(e);
        }
      }
      return super.get(name);
    }

    private void wait(LockService locks) throws IOException {
      JobNodes nodes = new JobNodes(SystemRuntime.INSTANCE, locks);
      Map<String, Integer> versions = new HashMap<>();
      for (String job : locks.children(LockPaths.JOBS)) {
        versions.put(job, nodes.read(job).orElseThrow().version());
      }
      asked = versions.keySet().stream().anyMatch(job -> isPin(job));
      if (asked) {
        for (Map.Entry<String, Integer> job : versions.entrySet()) {
          MiniStele.await(
              "renewals, or the end, of job " + job.getKey(),
              () ->
                  nodes
                      .read(job.getKey())
                      .map(now -> now.version() >= job.getValue() + RENEWALS)
                      .orElse(true));
        }
      }
    }

    private static boolean isPin(String job) {
      try {
        return !client.table(SOURCE).atPin(job).pinnedTablets().all().isEmpty();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  /** A job as submitting has it, with a configuration of our own. */
  @SuppressWarnings("deprecation") // There is no other way to extend it.
  private static final class SlowJob extends Job {
    private final Configuration conf;

    SlowJob(Job job) throws IOException {
      super();
      this.conf = new SlowPlan(job.getConfiguration());
    }

    @Override
    public Configuration getConfiguration() {
      return conf == null ? super.getConfiguration() : conf; // While this is made.
    }
  }

  private static Job read() throws IOException {
    Job job = SteleJob.create(cluster.conf(), "long plan", LongPlansIT.class);
    job.getConfiguration().set(TableInputFormat.LEASE_KEY, LEASE);
    TableInputFormat.addTable(job, SOURCE, RowQuery.ALL);
    return job;
  }

  private static String pin(List<InputSplit> splits) {
    return ((TableSplit) splits.get(0)).pin().orElseThrow();
  }

  @Test
  void aPinIsKeptHoweverLongPlanningTakes() throws IOException {
    List<InputSplit> splits = new TableInputFormat().getSplits(new SlowJob(read()));
    assertThat(client.jobs().state(pin(splits))).isEqualTo(JobNodes.State.BEGUN);
  }

  @Test
  void theJobOfTheOutputIsKeptHoweverLongPlanningTheInputTakes() throws IOException {
    Job job = read();
    BulkOutputFormat.addTable(job, "target", "f");
    job.getConfiguration().set(BulkOutputFormat.LEASE_KEY, LEASE);
    new BulkOutputFormat<>().checkOutputSpecs(job);
    List<InputSplit> splits = new TableInputFormat().getSplits(new SlowJob(job));
    assertThat(client.jobs().state(pin(splits))).isEqualTo(JobNodes.State.BEGUN);
    assertThat(cluster.stele().locks().children(LockPaths.JOBS))
        .as("the pin, and the job of the output")
        .hasSize(2)
        .allMatch(one -> isBegun(one));
  }

  private static boolean isBegun(String job) {
    try {
      return client.jobs().state(job) == JobNodes.State.BEGUN;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
