package io.stele.mapreduce;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.stele.client.BatchWriter;
import io.stele.client.Rows;
import io.stele.client.Table;
import io.stele.inputformat.TableInputFormat;
import io.stele.model.Bytes;
import io.stele.model.Mutation;
import io.stele.model.RowQuery;
import io.stele.model.TableSchema;
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.HdfsConfiguration;
import org.apache.hadoop.io.nativeio.NativeIO;
import org.apache.hadoop.mapreduce.Counters;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.TaskCounter;
import org.apache.hadoop.mapreduce.lib.output.NullOutputFormat;
import org.apache.hadoop.net.unix.DomainSocket;
import org.apache.hadoop.security.UserGroupInformation;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Blocks of the same host are read without the DataNode where Hadoop's native library allows it: by
 * mappers and by tablet servers. Skipped without that library; {@code -Pnative} gets one, and then
 * it must be usable.
 */
class ShortCircuitReadsIT {
  private static final boolean REQUIRED = Boolean.getBoolean("stele.test.native");
  private static final int ROWS = 2_000;
  private static final int VALUE_BYTES = 1_000;
  private static final long BYTES = (long) ROWS * VALUE_BYTES;

  @TempDir private Path scratch;

  private Configuration hadoop() {
    DomainSocket.disableBindPathValidation(); // Anybody can write in the directory for scratch.
    Configuration hadoop = new HdfsConfiguration();
    hadoop.setBoolean("dfs.client.read.shortcircuit", true);
    hadoop.set("dfs.domain.socket.path", scratch.resolve("datanode._PORT").toString());
    return hadoop;
  }

  @Test
  void mappersAndServersReadBlocksOfTheirHostWithoutItsDataNode() throws Exception {
    NativeIO.isAvailable(); // Its class initializes what passing open files takes.
    String missing = DomainSocket.getLoadingFailureReason();
    if (REQUIRED) {
      assertThat(missing).as("why libhadoop cannot be used").isNull();
    }
    assumeTrue(missing == null, missing);
    try (HdfsCluster cluster =
        new HdfsCluster(
            new File(scratch.toFile(), "cluster"),
            hadoop(),
            UserGroupInformation.getCurrentUser())) {
      Table table = fill(cluster);
      cluster.stele().client().admin().compactTable("t"); // Its rows are in files.

      long before = cluster.blockBytesRead();
      Counters direct = countersOf(cluster.conf(), "direct");
      assertThat(direct.findCounter(TaskCounter.MAP_INPUT_RECORDS).getValue()).isEqualTo(ROWS);
      assertThat(direct.findCounter(TableInputFormat.Counter.LOCAL_FILE_BYTES).getValue())
          .isGreaterThan(BYTES);
      assertThat(direct.findCounter(TableInputFormat.Counter.REMOTE_FILE_BYTES).getValue())
          .isZero();
      Counters served = countersOf(cluster.conf(), "served");
      assertThat(served.findCounter(TaskCounter.MAP_INPUT_RECORDS).getValue()).isEqualTo(ROWS);
      try (Rows rows = table.withoutCaching().readRows(RowQuery.ALL)) {
        assertThat(rows.stream().count()).isEqualTo(ROWS);
      }
      assertThat(cluster.blockBytesRead() - before).as("sent by DataNodes").isLessThan(BYTES);
    }
  }

  private static Table fill(HdfsCluster cluster) throws IOException {
    cluster.stele().client().admin().createTable(TableSchema.of("t", "f"), List.of());
    Table table = cluster.stele().client().table("t");
    Random random = new Random(1);
    try (BatchWriter writer = table.batchWriter()) {
      for (int i = 0; i < ROWS; i++) {
        byte[] value = new byte[VALUE_BYTES];
        random.nextBytes(value);
        Bytes row = Bytes.of(String.format("row%05d", i));
        writer.add(Mutation.of(row).put("f", Bytes.of("q"), Bytes.of(value)));
      }
    }
    return table;
  }

  /** Of a job that reads all rows. */
  private static Counters countersOf(Configuration conf, String mode) throws Exception {
    Job job = SteleJob.create(conf, mode);
    job.getConfiguration().set(TableInputFormat.MODE_KEY, mode);
    TableInputFormat.addTable(job, "t", RowQuery.ALL);
    job.setInputFormatClass(TableInputFormat.class);
    job.setNumReduceTasks(0);
    job.setOutputFormatClass(NullOutputFormat.class);
    assertThat(job.waitForCompletion(true)).isTrue();
    return job.getCounters();
  }
}
