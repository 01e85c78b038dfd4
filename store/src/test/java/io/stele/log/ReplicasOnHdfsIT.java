package io.stele.log;

import static io.stele.log.LogRecords.SERVER;
import static io.stele.log.LogRecords.TABLET;
import static io.stele.log.LogRecords.record;
import static io.stele.log.LogRecords.replayed;
import static io.stele.log.LogTestCase.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.stele.model.TabletKind;
import io.stele.runtime.SystemRuntime;
import java.io.File;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A log under load while DataNodes die. */
@Timeout(300)
class ReplicasOnHdfsIT {
  private static final LogOptions OPTIONS =
      LogOptions.DEFAULT.withSegmentBytes(1 << 20).withRetries(5, Duration.ofMillis(10));

  @TempDir static File scratch;

  private final CompletableFuture<IOException> failure = new CompletableFuture<>();

  /** Appends record after record, many at once, until told to end. */
  private static final class Load implements Runnable {
    private static final int AT_ONCE = 32;

    final CommitLog log;
    final List<CompletableFuture<Void>> outcomes = Collections.synchronizedList(new ArrayList<>());
    volatile boolean over;

    Load(CommitLog log) {
      this.log = log;
    }

    @Override
    public void run() {
      for (int i = 1; !over; i++) {
        outcomes.add(log.append(record(TABLET, i, 1000)));
        if (i > AT_ONCE) {
          outcomes.get(i - 1 - AT_ONCE).handle((done, failed) -> true).join();
        }
      }
    }

    long acknowledged() {
      synchronized (outcomes) {
        return outcomes.stream()
            .filter(one -> one.isDone() && !one.isCompletedExceptionally())
            .count();
      }
    }

    void awaitMore(int records) {
      long before = acknowledged();
      await(() -> acknowledged() >= before + records);
    }
  }

  @Test
  void noWriteIsLostOrAcknowledgedBelowTheMinimumWhileDataNodesDie() throws Exception {
    Configuration conf = new Configuration();
    conf.set(MiniDFSCluster.HDFS_MINIDFS_BASEDIR, scratch.getPath());
    MiniDFSCluster cluster = new MiniDFSCluster.Builder(conf).numDataNodes(3).build();
    Path logs = new Path("/logs/" + SERVER);
    try (FileSystem fs = cluster.getFileSystem()) {
      cluster.waitActive();
      LogDirectory.create(fs, logs);
      CommitLog log =
          CommitLog.open(
              SystemRuntime.INSTANCE,
              new LogLocation(fs, logs, SERVER, TabletKind.USER),
              OPTIONS,
              failure::complete);
      Load load = new Load(log);
      Thread thread = new Thread(load);
      thread.start();
      load.awaitMore(2000);

      cluster.stopDataNode(0);
      load.awaitMore(2000);

      MiniDFSCluster.DataNodeProperties second = cluster.stopDataNode(0);
      CompletableFuture<Void> begunWithOne = load.outcomes.get(load.outcomes.size() - 1);
      await(() -> log.refusal().isPresent());
      assertThat(log.refusal().orElseThrow()).contains("only 1 of the 2 replicas");
      long acknowledged = load.acknowledged();
      assertThat(begunWithOne).isNotDone();
      assertThat(failure).isNotDone();
      long failures = log.statistics().failures();
      await(() -> log.statistics().failures() > failures + 1);
      assertThat(load.acknowledged()).isEqualTo(acknowledged);

      cluster.restartDataNode(second);
      load.awaitMore(2000);
      load.over = true;
      thread.join();
      log.close();
      List<LogRecord> read = replayed(fs, logs);
      assertThat(read).hasSizeGreaterThanOrEqualTo((int) load.acknowledged());
      for (int i = 0; i < read.size(); i++) {
        assertThat(read.get(i)).isEqualTo(record(TABLET, i + 1, 1000));
      }
      assertThat(failure).isNotDone();
    } finally {
      cluster.shutdown(true);
    }
  }
}
