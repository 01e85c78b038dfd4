package io.stele.benchmarks;

import io.stele.config.Keys;
import io.stele.sim.MiniStele;
import io.stele.sim.Site;
import java.io.File;
import java.time.Duration;
import org.apache.curator.test.TestingServer;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.apache.hadoop.io.nativeio.NativeIO;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.net.unix.DomainSocket;

/**
 * HDFS with one DataNode, ZooKeeper, one master and one tablet server in this process, for jobs of
 * the local runner. They run until the process ends.
 *
 * <p>With {@code -Dshort.circuit=true} blocks are read without the DataNode, which needs Hadoop's
 * native library.
 */
final class JobCluster {
  /** What a store may keep of its files, and of what is not yet in files. */
  static final long CACHE_BYTES = 128L << 20;

  static final long MEMTABLE_BYTES = 256L << 20;
  private static final Duration SESSION = Duration.ofSeconds(40); // No server dies here.

  private final MiniDFSCluster hdfs;
  private final String zookeeper;
  private final Configuration conf;
  private final MiniStele stele;

  JobCluster() throws Exception {
    File directory = Scratch.directory("stele-jobs");
    Configuration hadoop = new Configuration();
    hadoop.set(MiniDFSCluster.HDFS_MINIDFS_BASEDIR, new File(directory, "hdfs").getPath());
    if (Boolean.getBoolean("short.circuit")) {
      readWithoutDataNode(hadoop, directory);
    }
    hdfs = new MiniDFSCluster.Builder(hadoop).numDataNodes(1).build();
    hdfs.waitActive();
    zookeeper = new TestingServer().getConnectString();
    conf = MiniStele.quick(new Configuration(hdfs.getConfiguration(0)));
    conf.set(Keys.ZOOKEEPER_QUORUM.name(), zookeeper);
    conf.set(Keys.SESSION_TIMEOUT.name(), SESSION.toSeconds() + "s");
    conf.setLong(Keys.CACHE_BYTES.name(), CACHE_BYTES);
    conf.setLong(Keys.MEMTABLE_TOTAL_BYTES.name(), MEMTABLE_BYTES);
    conf.set(Keys.LEASE.name(), SESSION.toSeconds() / 2 + "s");
    conf.set("mapreduce.cluster.local.dir", new File(directory, "local").getPath());
    conf.set("mapreduce.client.completion.pollinterval", "20"); // 5 s, which short jobs wait for.
    conf.set("mapreduce.client.progressmonitor.pollinterval", "20");
    conf.set("mapreduce.local.map.tasks.maximum", "2");
    conf.set("mapreduce.local.reduce.tasks.maximum", "2");
    // What bulk output sets for two mappers and two reducers that share a heap of 3 GB. All jobs
    // that sort are to have it.
    conf.setInt(MRJobConfig.IO_SORT_MB, 256);
    conf.setFloat(MRJobConfig.REDUCE_INPUT_BUFFER_PERCENT, 0.35f);
    Site site =
        Site.of(conf, new Path(hdfs.getURI()), zookeeper, Keys.CLUSTER_NAME.in(conf), SESSION);
    stele = MiniStele.start(conf, site, 1, 1);
  }

  private static void readWithoutDataNode(Configuration hadoop, File directory) {
    NativeIO.isAvailable(); // Its class initializes what passing open files takes.
    String missing = DomainSocket.getLoadingFailureReason();
    if (missing != null) {
      throw new IllegalStateException(
          "short-circuit reads need libhadoop in java.library.path: " + missing);
    }
    DomainSocket.disableBindPathValidation(); // Anybody can write in the directory for scratch.
    hadoop.setBoolean("dfs.client.read.shortcircuit", true);
    hadoop.set("dfs.domain.socket.path", new File(directory, "datanode._PORT").getPath());
  }

  /** What a program's configuration would say; a copy. */
  Configuration conf() {
    return new Configuration(conf);
  }

  MiniStele stele() {
    return stele;
  }

  FileSystem fs() throws Exception {
    return hdfs.getFileSystem();
  }

  /** ZooKeeper's address. */
  String zookeeper() {
    return zookeeper;
  }
}
