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
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.apache.hadoop.hdfs.protocol.DatanodeInfo;
import org.apache.hadoop.hdfs.protocol.DatanodeInfo.AdminStates;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** An operator takes away all DataNodes of the segment that is being written, as HDFS allows. */
@Timeout(300)
class LeavingDataNodesIT {
  private static final int NODES = 6;

  @TempDir static File scratch;

  @Test
  void anAcknowledgedRecordIsThereAfterItsDataNodesWereDecommissionedAndStopped() throws Exception {
    File excluded = new File(scratch, "excluded");
    assertThat(excluded.createNewFile()).isTrue();
    Configuration conf = conf(excluded);
    try (MiniDFSCluster cluster = new MiniDFSCluster.Builder(conf).numDataNodes(NODES).build();
        DistributedFileSystem fs = cluster.getFileSystem()) {
      cluster.waitActive();
      Path logs = new Path("/logs/" + SERVER);
      LogDirectory.create(fs, logs);
      CommitLog log =
          CommitLog.open(
              SystemRuntime.INSTANCE,
              new LogLocation(fs, logs, SERVER, TabletKind.USER),
              LogOptions.DEFAULT,
              failed -> {});
      log.append(record(TABLET, 1, 1000)).join();
      assertThat(log.rollIfDataNodesLeave()).isFalse();

      List<String> leaving =
          Stream.of(
                  fs.getClient()
                      .getLocatedBlocks(new Path(logs, "user-1.log").toUri().getPath(), 0)
                      .getLastLocatedBlock()
                      .getLocations())
              .map(DatanodeInfo::getXferAddr)
              .toList();
      assertThat(leaving).hasSize(3);
      Files.write(excluded.toPath(), leaving);
      cluster.getNamesystem().getBlockManager().getDatanodeManager().refreshNodes(conf);
      for (int i = 2; log.rollIfDataNodesLeave(); i++) {
        log.append(record(TABLET, i, 1000)).join(); // A standby segment may be there as well.
      }
      await(() -> areDecommissioned(fs, leaving));
      for (String node : leaving) {
        cluster.stopDataNode(node);
      }

      assertThat(replayed(fs, logs)).contains(record(TABLET, 1, 1000));
      log.close();
    }
  }

  private static Configuration conf(File excluded) {
    Configuration conf = new Configuration();
    conf.set(MiniDFSCluster.HDFS_MINIDFS_BASEDIR, scratch.getPath());
    conf.set("dfs.hosts.exclude", excluded.toString());
    conf.set("dfs.namenode.decommission.interval", "1s");
    conf.set("dfs.namenode.redundancy.interval.seconds", "1s");
    conf.set("dfs.heartbeat.interval", "1s");
    return conf;
  }

  private static boolean areDecommissioned(DistributedFileSystem fs, List<String> nodes) {
    try {
      return Arrays.stream(fs.getDataNodeStats())
          .filter(node -> nodes.contains(node.getXferAddr()))
          .allMatch(node -> node.getAdminState() == AdminStates.DECOMMISSIONED);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
