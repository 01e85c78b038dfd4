package io.stele.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.log.CommitLog;
import io.stele.log.LogDirectory;
import io.stele.log.LogLocation;
import io.stele.log.LogOptions;
import io.stele.log.Segment;
import io.stele.model.ServerId;
import io.stele.model.TabletKind;
import io.stele.runtime.SystemRuntime;
import java.io.File;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.apache.hadoop.hdfs.server.datanode.DataNode;
import org.apache.hadoop.metrics2.AbstractMetric;
import org.apache.hadoop.metrics2.MetricsRecord;
import org.apache.hadoop.metrics2.impl.MetricsCollectorImpl;
import org.apache.hadoop.metrics2.lib.DefaultMetricsSystem;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Files on HDFS: every block synced, and replicated even where a directory says otherwise. */
@Timeout(300)
class DurableFilesOnHdfsIT {
  private static final String STRIPES = "XOR-2-1-1024k";
  private static final int BLOCK_BYTES = 1 << 20;
  private static final int DATA_NODES = 3;

  @TempDir static File scratch;
  private static MiniDFSCluster cluster;
  private static DistributedFileSystem fs;

  @BeforeAll
  static void start() throws IOException {
    Configuration conf = new Configuration();
    conf.set(MiniDFSCluster.HDFS_MINIDFS_BASEDIR, scratch.getPath());
    conf.setInt("dfs.blocksize", BLOCK_BYTES);
    cluster = new MiniDFSCluster.Builder(conf).numDataNodes(DATA_NODES).build();
    cluster.waitActive();
    fs = cluster.getFileSystem();
    fs.enableErasureCodingPolicy(STRIPES);
  }

  @AfterAll
  static void stop() {
    if (cluster != null) {
      cluster.shutdown(true);
    }
  }

  /** How often the DataNodes have synced files. */
  private static long syncs() {
    MetricsCollectorImpl collector = new MetricsCollectorImpl();
    for (DataNode node : cluster.getDataNodes()) {
      DefaultMetricsSystem.instance()
          .getSource(node.getMetrics().name())
          .getMetrics(collector, true);
    }
    long sum = 0;
    for (MetricsRecord record : collector.getRecords()) {
      for (AbstractMetric metric : record.metrics()) {
        sum += metric.name().equals("FsyncCount") ? metric.value().longValue() : 0;
      }
    }
    return sum;
  }

  @Test
  void everyBlockIsSyncedOnEveryNode() throws Exception {
    long before = syncs();
    try (DurableFile file = new DurableFiles(fs).createBelow(new Path("/synced/file"))) {
      for (int i = 0; i < 7; i++) {
        file.write(new byte[BLOCK_BYTES / 2]);
      }
      file.hsync();
      assertThat(syncs() - before).isGreaterThanOrEqualTo(4 * DATA_NODES); // Of three and a half.
      assertThat(file.replicas()).hasValue(DATA_NODES);
      assertThat(file.nodes()).isNotEmpty();
    }
  }

  @Test
  void filesAreOnTheNodesThatArePreferred() throws Exception {
    Configuration oneReplica = new Configuration(cluster.getConfiguration(0));
    oneReplica.setInt("dfs.replication", 1);
    try (FileSystem single = FileSystem.newInstance(fs.getUri(), oneReplica)) {
      for (DataNode node : cluster.getDataNodes()) {
        String name = node.getDatanodeId().getXferAddr();
        DurableFiles files = new DurableFiles(single).preferring(List.of(name));
        for (int i = 0; i < 5; i++) {
          Path path = new Path("/preferred/" + name.replace(':', '-') + "/" + i);
          long before = syncs();
          try (DurableFile file = files.createBelow(path)) {
            file.write(new byte[BLOCK_BYTES + 1]);
            file.hsync();
            assertThat(file.nodes()).containsExactly(name);
            assertThat(syncs() - before).as("of both blocks").isGreaterThanOrEqualTo(2);
          }
          assertThatThrownBy(() -> files.create(path))
              .isInstanceOf(FileAlreadyExistsException.class);
        }
        assertThatThrownBy(() -> files.create(new Path("/missing/file")))
            .isInstanceOf(FileNotFoundException.class);
      }
    }
  }

  @Test
  void filesBelowAnErasureCodedDirectoryAreReplicated() throws Exception {
    Path directory = new Path("/striped");
    fs.mkdirs(directory);
    fs.setErasureCodingPolicy(directory, STRIPES);
    fs.create(new Path(directory, "usual")).close();
    assertThat(fs.getErasureCodingPolicy(new Path(directory, "usual"))).isNotNull();
    String node = cluster.getDataNodes().get(0).getDatanodeId().getXferAddr();
    DurableFiles files = new DurableFiles(fs);
    for (DurableFiles one : List.of(files, files.preferring(List.of(node)))) {
      Path file = new Path(directory, one == files ? "a/file" : "a/preferred");
      try (DurableFile out = one.createBelow(file)) {
        out.write(1);
        out.hsync();
      }
      assertThat(fs.getErasureCodingPolicy(file)).isNull();
      assertThat(fs.getFileStatus(file).getReplication()).isEqualTo((short) DATA_NODES);
    }
  }

  @Test
  void segmentsBelowAnErasureCodedDirectoryAreReplicated() throws Exception {
    Path logs = new Path("/stripedlogs");
    fs.mkdirs(logs);
    fs.setErasureCodingPolicy(logs, STRIPES);
    ServerId server = new ServerId("host", 1, 1);
    Path directory = new Path(logs, server.toString());
    LogDirectory.create(fs, directory);
    CommitLog log =
        CommitLog.open(
            SystemRuntime.INSTANCE,
            new LogLocation(fs, directory, server, TabletKind.USER),
            LogOptions.DEFAULT,
            failure -> {});
    List<Segment> segments = LogDirectory.segments(fs, directory);
    assertThat(segments).isNotEmpty();
    for (Segment segment : segments) {
      assertThat(fs.getErasureCodingPolicy(segment.path())).isNull();
    }
    log.close();
  }
}
