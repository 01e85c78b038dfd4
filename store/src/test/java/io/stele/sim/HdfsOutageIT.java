package io.stele.sim;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.Ports;
import io.stele.client.Table;
import io.stele.config.Keys;
import io.stele.lock.LockService;
import io.stele.model.ColumnFamily;
import io.stele.model.Mutation;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.model.TableSchema;
import java.io.File;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.apache.hadoop.hdfs.protocol.HdfsConstants;
import org.apache.hadoop.hdfs.server.datanode.DataNode;
import org.apache.hadoop.hdfs.server.datanode.fsdataset.FsDatasetSpi;
import org.apache.hadoop.hdfs.server.datanode.fsdataset.impl.FsVolumeImpl;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** A cluster whose HDFS is away, or takes no data, for half a minute. */
@Execution(ExecutionMode.CONCURRENT) // They wait for the outage to end.
@Timeout(300)
class HdfsOutageIT {
  private static final Duration OUTAGE = Duration.ofSeconds(30);
  private static final Duration OUTAGE_MAX = OUTAGE.multipliedBy(8);
  private static final Duration CLIENT_TIMEOUT = Duration.ofSeconds(3);
  private static final Duration LATE_MAX = Duration.ofSeconds(20);
  private static final Duration BACK_MAX = Duration.ofSeconds(60);

  private static final long AS_IT_IS = -1;

  @TempDir static File scratch;

  /** Something the outage begins or ends with. */
  private interface Step {
    void take(MiniDFSCluster hdfs) throws Exception;
  }

  @Test
  void withoutAnyDataNodeNoServerEndsAndNoWriteIsLost() throws Exception {
    List<MiniDFSCluster.DataNodeProperties> stopped = new ArrayList<>();
    survives(
        "datanodes",
        hdfs -> {
          while (!hdfs.getDataNodes().isEmpty()) {
            stopped.add(hdfs.stopDataNode(0));
          }
        },
        hdfs -> {
          for (MiniDFSCluster.DataNodeProperties one : stopped) {
            hdfs.restartDataNode(one, true);
          }
        });
  }

  @Test
  void withoutANameNodeNoServerEndsAndNoWriteIsLost() throws Exception {
    survives("namenode", hdfs -> hdfs.shutdownNameNode(0), hdfs -> hdfs.restartNameNode(0));
  }

  @Test
  void withFullDisksNoServerEndsAndNoWriteIsLost() throws Exception {
    survives("disks", hdfs -> setCapacity(hdfs, 0), hdfs -> setCapacity(hdfs, AS_IT_IS));
  }

  @Test
  void withAnExhaustedQuotaNoServerEndsAndNoWriteIsLost() throws Exception {
    survives(
        "quota",
        hdfs -> setSpaceQuota(hdfs, 1),
        hdfs -> setSpaceQuota(hdfs, HdfsConstants.QUOTA_RESET));
  }

  private static void setCapacity(MiniDFSCluster hdfs, long bytes) throws IOException {
    for (DataNode node : hdfs.getDataNodes()) {
      try (FsDatasetSpi.FsVolumeReferences volumes = node.getFSDataset().getFsVolumeReferences()) {
        volumes.forEach(volume -> ((FsVolumeImpl) volume).setCapacityForTesting(bytes));
      }
    }
  }

  private static void setSpaceQuota(MiniDFSCluster hdfs, long bytes) throws IOException {
    hdfs.getFileSystem().setQuota(new Path("/"), HdfsConstants.QUOTA_DONT_SET, bytes);
  }

  private static Site site(MiniDFSCluster hdfs) throws IOException {
    Configuration conf = hdfs.getConfiguration(0);
    MemoryLockStore locks = new MemoryLockStore();
    return new Site() {
      @Override
      public FileSystem mount() throws IOException {
        return FileSystem.newInstance(hdfs.getURI(), conf);
      }

      @Override
      public LockService connect() {
        return locks.connect();
      }

      @Override
      public void kill(FileSystem view, RandomGenerator random) {
        // Left open, as a dead process leaves it.
      }
    };
  }

  private static void survives(String name, Step begin, Step end) throws Exception {
    MiniDFSCluster hdfs = startHdfs(name);
    try (MiniStele cluster = startStele(hdfs)) {
      new Outage(cluster).run(() -> begin.take(hdfs), () -> end.take(hdfs));
    } finally {
      hdfs.shutdown(true);
    }
  }

  // One after the other: several at once would start too slowly for their sessions.

  private static synchronized MiniDFSCluster startHdfs(String name) throws IOException {
    Configuration conf = new Configuration();
    conf.set(MiniDFSCluster.HDFS_MINIDFS_BASEDIR, new File(scratch, name).getPath());
    conf.set("dfs.client.block.write.locateFollowingBlock.retries", "1");
    conf.set("ipc.client.connect.max.retries", "1");
    MiniDFSCluster hdfs =
        new MiniDFSCluster.Builder(conf)
            .nameNodePort(Ports.free())
            .nameNodeHttpPort(Ports.free())
            .numDataNodes(2)
            .checkDataNodeAddrConfig(true)
            .dataNodeConfOverlays(new Configuration[] {ports(), ports()})
            .build();
    hdfs.waitActive();
    return hdfs;
  }

  private static synchronized MiniStele startStele(MiniDFSCluster hdfs) throws IOException {
    Configuration own = MiniStele.quick(new Configuration(hdfs.getConfiguration(0)));
    own.set(Keys.CLIENT_TIMEOUT.name(), CLIENT_TIMEOUT.toSeconds() + "s");
    own.set(Keys.LOG_SEGMENT_BYTES.name(), "64k"); // Soon another block is needed.
    return MiniStele.start(own, site(hdfs), 2, 1);
  }

  /** Of a DataNode that starts again on its ports. */
  private static Configuration ports() throws IOException {
    Configuration conf = new Configuration(false);
    for (String key : List.of("address", "http.address", "ipc.address")) {
      conf.set("dfs.datanode." + key, "127.0.0.1:" + Ports.free());
    }
    return conf;
  }

  private interface Action {
    void take() throws Exception;
  }

  private static final class Outage {
    private final MiniStele cluster;
    private final Table table;
    private final List<String> acknowledged = new ArrayList<>();

    Outage(MiniStele cluster) throws IOException {
      this.cluster = cluster;
      cluster.createTable(TableSchema.of("t", List.of(ColumnFamily.of("f"))));
      this.table = cluster.client().table("t");
    }

    private static boolean isAway(long nanos, int failed) {
      return nanos < (failed > 0 ? OUTAGE : OUTAGE_MAX).toNanos();
    }

    void run(Action begin, Action end) throws Exception {
      List<ServerId> before = cluster.servers();
      for (int i = 0; i < 100; i++) {
        assertThat(put("before" + i)).isTrue();
      }
      begin.take();
      long away = System.nanoTime();
      int failed = 0;
      // On a slow machine it takes longer until a write needs what is away.
      for (int i = 0; isAway(System.nanoTime() - away, failed); i++) {
        long start = System.nanoTime();
        failed += put("meanwhile" + i) ? 0 : 1;
        assertThat(Duration.ofNanos(System.nanoTime() - start))
            .isLessThan(CLIENT_TIMEOUT.plus(LATE_MAX));
        assertThat(table.readRow("before0")).as("a row that memory has").isPresent();
      }
      assertThat(failed).as("writes that the outage hindered").isPositive();
      assertThat(cluster.aborts()).isEmpty();

      end.take();
      until(() -> assertThat(put("after")).isTrue());
      readAll();
      assertThat(cluster.aborts()).isEmpty();
      assertThat(cluster.servers()).isEqualTo(before);

      // All is in the log, not only in memory.
      before.forEach(cluster::killServer);
      cluster.startServer();
      until(this::readAll);
    }

    private void readAll() throws IOException {
      for (String row : acknowledged) {
        assertThat(table.readRow(row)).as(row).isPresent();
      }
    }

    private void until(Action action) throws Exception {
      long start = System.nanoTime();
      while (true) {
        try {
          action.take();
          return;
        } catch (SteleException | IOException | AssertionError e) {
          if (System.nanoTime() - start > BACK_MAX.toNanos()) {
            throw e;
          }
        }
      }
    }

    private boolean put(String row) throws IOException {
      try {
        table.mutate(Mutation.of(row).put("f", "", "value"));
        acknowledged.add(row);
        return true;
      } catch (SteleException e) {
        assertThat(e.code())
            .isIn(SteleException.Code.RETRY_LATER, SteleException.Code.OUTCOME_UNKNOWN);
        return false;
      }
    }
  }
}
