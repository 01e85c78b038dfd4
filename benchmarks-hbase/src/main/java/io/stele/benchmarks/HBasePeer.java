package io.stele.benchmarks;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.RegionLocator;
import org.apache.hadoop.hbase.client.SnapshotType;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.tool.BulkLoadHFiles;
import org.apache.hadoop.hbase.util.Bytes;

/** Jobs over tables of HBase, on the HDFS of {@link JobCluster}. */
final class HBasePeer {
  private static final TableName CELLS = TableName.valueOf("cells");
  private static final TableName WRITTEN = TableName.valueOf("written");
  private static final String SNAPSHOT = "cells-snapshot";
  private static final Path FILES = new Path("/hfiles");
  private static final Path RESTORED = new Path("/restored");

  private final Configuration conf;
  private final Connection connection;
  private final FileSystem fs;
  private final Path cells;
  private final long bytes;
  private final byte[][] middle;

  private HBasePeer(HBaseServer server, FileSystem fs, Path cells, long bytes, String middle) {
    this.conf = server.conf();
    this.connection = server.connection();
    this.fs = fs;
    this.cells = cells;
    this.bytes = bytes;
    this.middle = new byte[][] {Bytes.toBytes(middle)};
  }

  static Map<String, Compared> start(JobCluster cluster, Path cells, long bytes, String middle)
      throws Exception {
    HBaseServer server = HBaseServer.start(cluster.conf(), cluster.zookeeper());
    HBasePeer peer = new HBasePeer(server, cluster.fs(), cells, bytes, middle);
    peer.fill();
    return peer.jobs();
  }

  /** Makes a table of two regions with one file each, like the two tablets of Stele's table. */
  private void fill() throws Exception {
    try (Admin admin = connection.getAdmin()) {
      admin.createTable(HBaseServer.table(CELLS), middle);
      bulk(CELLS);
      fs.delete(FILES, true);
      admin.snapshot(SNAPSHOT, CELLS, SnapshotType.FLUSH);
    }
  }

  private Map<String, Compared> jobs() {
    Map<String, Compared> jobs = new LinkedHashMap<>();
    jobs.put(
        "hbase-snapshot",
        Compared.reading(() -> HBaseJobs.snapshot(conf(), SNAPSHOT, RESTORED), bytes)
            .then(() -> fs.delete(RESTORED, true)));
    jobs.put("hbase-served", Compared.reading(() -> HBaseJobs.served(conf(), CELLS), bytes));
    jobs.put(
        "hbase-bulk",
        new Compared(
            () -> create(middle),
            () -> bulk(WRITTEN),
            () -> {
              drop();
              fs.delete(FILES, true);
            }));
    jobs.put(
        "hbase-live",
        Compared.writing(
            () -> create(new byte[0][]), () -> HBaseJobs.live(conf(), cells, WRITTEN), this::drop));
    return jobs;
  }

  private Configuration conf() {
    return HBaseConfiguration.create(conf);
  }

  private void create(byte[][] splits) throws IOException {
    try (Admin admin = connection.getAdmin()) {
      if (splits.length == 0) {
        admin.createTable(HBaseServer.table(WRITTEN));
      } else {
        admin.createTable(HBaseServer.table(WRITTEN), splits);
      }
    }
  }

  private void drop() throws IOException {
    try (Admin admin = connection.getAdmin()) {
      admin.disableTable(WRITTEN);
      admin.deleteTable(WRITTEN);
    }
  }

  /** Writes files, and has the table take them. */
  private void bulk(TableName name) throws Exception {
    try (Table table = connection.getTable(name);
        RegionLocator places = connection.getRegionLocator(name)) {
      Compared.run(HBaseJobs.files(conf(), cells, FILES, table, places));
    }
    BulkLoadHFiles.create(conf()).bulkLoad(name, FILES);
  }
}
