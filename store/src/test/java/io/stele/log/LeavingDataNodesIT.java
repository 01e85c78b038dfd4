package io.stele.log;

import static io.stele.log.LogRecords.SERVER;
import static io.stele.log.LogRecords.TABLET;
import static io.stele.log.LogRecords.record;
import static io.stele.log.LogRecords.replayed;
import static io.stele.log.LogTestCase.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.stele.files.LeavingDataNodes;
import io.stele.model.TabletKind;
import io.stele.runtime.SystemRuntime;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.apache.hadoop.hdfs.protocol.DatanodeInfo;
import org.apache.hadoop.hdfs.protocol.DatanodeInfo.AdminStates;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** An operator takes away all DataNodes of the segment that is being written, as HDFS allows. */
@Timeout(300)
class LeavingDataNodesIT {
  private static final int NODES = 6;

  @TempDir static File scratch;

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void anAcknowledgedRecordIsThereAfterItsDataNodesWereDecommissionedAndStopped(boolean idle)
      throws Exception {
    File excluded = new File(scratch, "excluded-" + idle);
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
      List<LogRecord> acknowledged = new ArrayList<>();
      if (!idle) {
        append(log, acknowledged);
      }
      assertThat(log.leaveDataNodes()).isFalse();

      List<String> leaving = nodes(fs, new Path(logs, "user-1.log"));
      assertThat(leaving).hasSize(3);
      Files.write(excluded.toPath(), leaving);
      cluster.getNamesystem().getBlockManager().getDatanodeManager().refreshNodes(conf);
      assertThat(log.leaveDataNodes()).isTrue();
      assertThat(log.leaveDataNodes()).as("only what is new").isFalse();
      await(() -> areLeft(fs, logs));
      append(log, acknowledged);
      await(() -> areDecommissioned(fs, leaving));
      for (String node : leaving) {
        assertThat(cluster.stopDataNode(node)).isNotNull();
      }

      assertThat(replayed(fs, logs)).isEqualTo(acknowledged);
      log.close();
    }
  }

  private static void append(CommitLog log, List<LogRecord> acknowledged) {
    LogRecord next = record(TABLET, acknowledged.size() + 1, 1000);
    log.append(next).join();
    acknowledged.add(next);
  }

  private static List<String> nodes(DistributedFileSystem fs, Path file) throws IOException {
    return Stream.of(
            fs.getClient()
                .getLocatedBlocks(file.toUri().getPath(), 0)
                .getLastLocatedBlock()
                .getLocations())
        .map(DatanodeInfo::getXferAddr)
        .toList();
  }

  private static boolean areLeft(DistributedFileSystem fs, Path logs) {
    try {
      return LeavingDataNodes.openFiles(fs, logs, LogOptions.DEFAULT.replicasMin()).isEmpty();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Configuration conf(File excluded) {
    Configuration conf = new Configuration();
    conf.set(MiniDFSCluster.HDFS_MINIDFS_BASEDIR, excluded + "-cluster");
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
