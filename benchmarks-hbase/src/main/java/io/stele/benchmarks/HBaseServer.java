package io.stele.benchmarks;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.LocalHBaseCluster;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.util.CommonFSUtils;

/**
 * A master and a region server of HBase in this process, with as much memory as {@link JobCluster}
 * gives to Stele's caches and memtables; otherwise as HBase comes. They run until the process ends.
 */
final class HBaseServer {
  static final byte[] FAMILY = Bytes.toBytes("f");
  static final byte[] QUALIFIER = Bytes.toBytes("q");

  private final Configuration conf;
  private final Connection connection;

  private HBaseServer(Configuration conf, Connection connection) {
    this.conf = conf;
    this.connection = connection;
  }

  /**
   * Starts it.
   *
   * @param hadoop says where HDFS is
   * @param zookeeper one server of ZooKeeper, {@code host:port}
   */
  static HBaseServer start(Configuration hadoop, String zookeeper) throws Exception {
    Configuration conf = HBaseConfiguration.create(hadoop);
    String[] server = zookeeper.split(":");
    conf.set(HConstants.ZOOKEEPER_QUORUM, server[0]);
    conf.set(HConstants.ZOOKEEPER_CLIENT_PORT, server[1]);
    conf.setBoolean(HConstants.CLUSTER_DISTRIBUTED, true);
    CommonFSUtils.setRootDir(conf, FileSystem.get(hadoop).makeQualified(new Path("/hbase")));
    conf.set(HConstants.TEMPORARY_FS_DIRECTORY_KEY, "/hbase-staging");
    conf.setInt(HConstants.MASTER_PORT, 0);
    conf.setInt(HConstants.REGIONSERVER_PORT, 0);
    conf.setInt(HConstants.MASTER_INFO_PORT, -1);
    conf.setInt(HConstants.REGIONSERVER_INFO_PORT, -1);
    double heap = Runtime.getRuntime().maxMemory();
    conf.setDouble(HConstants.HFILE_BLOCK_CACHE_SIZE_KEY, JobCluster.CACHE_BYTES / heap);
    conf.setDouble("hbase.regionserver.global.memstore.size", JobCluster.MEMTABLE_BYTES / heap);
    LocalHBaseCluster cluster = new LocalHBaseCluster(conf, 1, 1);
    cluster.startup();
    return new HBaseServer(conf, ConnectionFactory.createConnection(conf));
  }

  Configuration conf() {
    return conf;
  }

  Connection connection() {
    return connection;
  }

  /** One family, blocks of 64 KiB, no compression, one version: the defaults. */
  static TableDescriptor table(TableName name) {
    return TableDescriptorBuilder.newBuilder(name)
        .setColumnFamily(ColumnFamilyDescriptorBuilder.of(FAMILY))
        .build();
  }
}
