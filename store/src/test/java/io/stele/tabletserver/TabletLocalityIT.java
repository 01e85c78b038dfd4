package io.stele.tabletserver;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.metadata.Layout;
import io.stele.model.TableSchema;
import io.stele.record.FileRef;
import io.stele.wire.HostShare;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.apache.hadoop.io.IOUtils;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A server on the host "host", with files on HDFS of three DataNodes, each on its own host. */
@Timeout(300)
class TabletLocalityIT {
  private static final int BLOCK_BYTES = 1 << 20;

  @TempDir static File scratch;
  private static final Layout LAYOUT = new Layout(new Path("/stele"), "test"); // On HDFS.

  private static MiniDFSCluster cluster;
  private static DistributedFileSystem fs;

  @BeforeAll
  static void start() throws IOException {
    Configuration conf = new Configuration();
    conf.set(MiniDFSCluster.HDFS_MINIDFS_BASEDIR, scratch.getPath());
    conf.setInt("dfs.blocksize", BLOCK_BYTES);
    cluster =
        new MiniDFSCluster.Builder(conf)
            .numDataNodes(3)
            .hosts(new String[] {"Host", "second", "third"})
            .build();
    cluster.waitActive();
    fs = cluster.getFileSystem();
  }

  @AfterAll
  static void stop() {
    if (cluster != null) {
      cluster.shutdown(true);
    }
  }

  /** Copies a file of the server's to HDFS, each block to these DataNodes. */
  private static void copy(TestServer server, FileRef file, int... nodes) throws IOException {
    InetSocketAddress[] favored = new InetSocketAddress[nodes.length];
    for (int i = 0; i < nodes.length; i++) {
      favored[i] = cluster.getDataNodes().get(nodes[i]).getXferAddress();
    }
    Path path = LAYOUT.resolve(file.path());
    try (InputStream in = server.fs.open(server.layout.resolve(file.path()));
        FSDataOutputStream out =
            fs.create(
                path,
                FsPermission.getFileDefault(),
                false,
                4096,
                (short) nodes.length,
                BLOCK_BYTES,
                null,
                favored)) {
      IOUtils.copyBytes(in, out, 4096);
    }
  }

  @Test
  void theHostsAreThoseOfTheDataNodesWithTheBlocks() throws Exception {
    try (TestServer server = new TestServer(new TestServer.World())) {
      HostedTablet here = server.takeNew(TableSchema.of("here", "f"));
      HostedTablet away = server.takeNew(TableSchema.of("away", "f"));
      for (HostedTablet hosted : List.of(here, away)) {
        TestServer.put(hosted, "row", "x".repeat(3 * BLOCK_BYTES));
        hosted.tablet().minorCompact();
      }
      copy(server, here.record().files().get(0), 0, 2);
      copy(server, away.record().files().get(0), 1);
      TabletLocality locality = new TabletLocality(server.context, fs, LAYOUT);
      locality.ask();
      locality.ask();
      assertThat(locality.of(here))
          .containsExactly(new HostShare("host", 100), new HostShare("third", 100));
      assertThat(locality.of(away)).containsExactly(new HostShare("second", 100));
      assertThat(locality.localPercent(List.of(here))).contains(100);
      assertThat(locality.localPercent(List.of(away))).contains(0);
      assertThat(locality.localPercent(List.of(here, away))).contains(50);
    }
  }
}
