package io.stele.mapreduce;

import io.stele.config.Keys;
import io.stele.sim.MiniStele;
import io.stele.sim.Site;
import java.io.File;
import java.io.IOException;
import java.security.PrivilegedExceptionAction;
import java.time.Duration;
import java.util.List;
import java.util.stream.StreamSupport;
import org.apache.curator.test.TestingServer;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.apache.hadoop.hdfs.server.datanode.DataNode;
import org.apache.hadoop.metrics2.MetricsRecord;
import org.apache.hadoop.metrics2.impl.MetricsCollectorImpl;
import org.apache.hadoop.metrics2.lib.DefaultMetricsSystem;
import org.apache.hadoop.security.UserGroupInformation;

/** A cluster over HDFS and ZooKeeper, all in this JVM. */
public final class HdfsCluster implements AutoCloseable {
  /** The largest value of a cell. */
  static final int VALUE_BYTES = 1 << 20;

  private static final Duration SESSION = Duration.ofSeconds(20);

  private final MiniDFSCluster hdfs;
  private final TestingServer zookeeper;
  private final Configuration conf;
  private final MiniStele stele;

  /** Starts a cluster of one master and two tablet servers, with its files in {@code directory}. */
  public HdfsCluster(File directory) throws Exception {
    this(directory, new Configuration(), UserGroupInformation.getCurrentUser());
  }

  /**
   * The same on an HDFS with a configuration of its own.
   *
   * @param store who runs it, in place of this process's user, who may do anything on HDFS
   */
  HdfsCluster(File directory, Configuration hadoop, UserGroupInformation store) throws Exception {
    hadoop.set(MiniDFSCluster.HDFS_MINIDFS_BASEDIR, new File(directory, "hdfs").getPath());
    hdfs = new MiniDFSCluster.Builder(hadoop).numDataNodes(2).build();
    hdfs.waitActive();
    zookeeper = new TestingServer();
    conf = MiniStele.quick(new Configuration(hdfs.getConfiguration(0)));
    conf.set(Keys.ZOOKEEPER_QUORUM.name(), zookeeper.getConnectString());
    conf.setLong(Keys.VALUE_BYTES_MAX.name(), VALUE_BYTES);
    conf.set(Keys.SWEEP_INTERVAL.name(), "100ms"); // Files go as soon as they are not needed.
    conf.set(Keys.SESSION_TIMEOUT.name(), SESSION.toSeconds() + "s"); // No server dies here.
    conf.set(Keys.LEASE.name(), SESSION.toSeconds() / 2 + "s");
    conf.set("mapreduce.cluster.local.dir", new File(directory, "local").getPath());
    seeEndsOfJobsAtOnce(conf);
    Site site =
        Site.of(
            conf,
            new Path(hdfs.getURI()),
            zookeeper.getConnectString(),
            Keys.CLUSTER_NAME.in(conf),
            SESSION);
    Path root = new Path(Keys.ROOT_DIR.in(conf));
    fs().mkdirs(root);
    fs().setOwner(root, store.getShortUserName(), store.getPrimaryGroupName());
    fs().setPermission(root, new FsPermission((short) 0711));
    PrivilegedExceptionAction<MiniStele> start = () -> MiniStele.start(conf, site, 2, 1);
    stele = store.doAs(start);
  }

  /** Who waits for a job looks every five seconds, or every second, by default. */
  static void seeEndsOfJobsAtOnce(Configuration conf) {
    conf.set("mapreduce.client.completion.pollinterval", "50");
    conf.set("mapreduce.client.progressmonitor.pollinterval", "50");
  }

  /** What a program's configuration would say; shared. */
  public Configuration conf() {
    return conf;
  }

  /** The cluster. */
  public MiniStele stele() {
    return stele;
  }

  /** HDFS. */
  public FileSystem fs() throws IOException {
    return hdfs.getFileSystem();
  }

  /** How many bytes of blocks all DataNodes have sent to readers. */
  long blockBytesRead() {
    MetricsCollectorImpl metrics = new MetricsCollectorImpl();
    for (DataNode node : hdfs.getDataNodes()) {
      DefaultMetricsSystem.instance().getSource(node.getMetrics().name()).getMetrics(metrics, true);
    }
    List<? extends MetricsRecord> records = metrics.getRecords();
    return records.stream()
        .flatMap(record -> StreamSupport.stream(record.metrics().spliterator(), false))
        .filter(metric -> metric.name().equals("BytesRead"))
        .mapToLong(metric -> metric.value().longValue())
        .sum();
  }

  @Override
  public void close() throws IOException {
    stele.close();
    FileSystem.closeAll(); // Or their leases are renewed for ever, of a NameNode that is gone.
    zookeeper.close();
    hdfs.shutdown(true);
  }
}
