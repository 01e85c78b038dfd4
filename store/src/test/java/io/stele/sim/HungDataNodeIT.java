package io.stele.sim;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.client.Rows;
import io.stele.client.Table;
import io.stele.config.Keys;
import io.stele.files.HdfsClientDefaults;
import io.stele.lock.LockService;
import io.stele.model.ColumnFamily;
import io.stele.model.Mutation;
import io.stele.model.Row;
import io.stele.model.RowQuery;
import io.stele.model.TableSchema;
import io.stele.runtime.FanOut;
import io.stele.runtime.SystemRuntime;
import io.stele.runtime.WorkerPool;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A cluster of whose three DataNodes, each of which has everything, one hangs. */
@Timeout(300)
class HungDataNodeIT {
  private static final int DATA_NODES = 3;
  private static final int TABLES = 12;
  private static final int ROWS = 200;

  /** HDFS itself waits for a minute, and several reads may have to, one after the other. */
  private static final String CLIENT_TIMEOUT = "25s";

  @TempDir static Path scratch;

  @Test
  void rowsAreReadWhileADataNodeHangs() throws Exception {
    MiniDFSCluster hdfs = startNameNode();
    List<DataNodeProcess> nodes = new ArrayList<>();
    try {
      for (int i = 0; i < DATA_NODES; i++) {
        nodes.add(new DataNodeProcess(scratch.resolve("datanode" + i), hdfs.getConfiguration(0)));
      }
      MiniStele.await("the DataNodes", () -> liveNodes(hdfs) == DATA_NODES);
      try (MiniStele cluster = MiniStele.start(configuration(hdfs), site(hdfs), 1, 1)) {
        List<Table> tables = written(cluster);
        nodes.get(0).suspend();
        readAll(tables);
        nodes.get(0).resume();
        assertThat(cluster.aborts()).isEmpty();
      }
    } finally {
      nodes.forEach(DataNodeProcess::close);
      hdfs.shutdown(true);
    }
  }

  private static MiniDFSCluster startNameNode() throws IOException {
    Configuration conf = new Configuration();
    conf.set(MiniDFSCluster.HDFS_MINIDFS_BASEDIR, scratch.resolve("hdfs").toString());
    return new MiniDFSCluster.Builder(conf).numDataNodes(0).build();
  }

  private static int liveNodes(MiniDFSCluster hdfs) {
    return hdfs.getNameNode().getNamesystem().getNumLiveDataNodes();
  }

  /** Every row is read from its file, or nearly. */
  private static Configuration configuration(MiniDFSCluster hdfs) {
    Configuration conf = MiniStele.quick(hdfs.getConfiguration(0));
    conf.set(Keys.CACHE_BYTES.name(), "1m");
    conf.set(Keys.CLIENT_TIMEOUT.name(), CLIENT_TIMEOUT);
    return conf;
  }

  private static Site site(MiniDFSCluster hdfs) {
    Configuration conf = new Configuration(hdfs.getConfiguration(0));
    conf.setInt("dfs.replication", DATA_NODES);
    HdfsClientDefaults.hedgeReads(conf);
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
        // Nobody is killed here.
      }
    };
  }

  /** Tables whose rows are all in files. */
  private static List<Table> written(MiniStele cluster) throws IOException {
    List<Table> tables = new ArrayList<>();
    for (int t = 0; t < TABLES; t++) {
      String name = "t" + t;
      cluster.createTable(TableSchema.of(name, List.of(ColumnFamily.of("f"))));
      Table table = cluster.client().table(name);
      table.mutateAll(IntStream.range(0, ROWS).mapToObj(HungDataNodeIT::mutation).toList());
      cluster.client().admin().compactTable(name);
      tables.add(table);
    }
    return tables;
  }

  private static Mutation mutation(int row) {
    return Mutation.of(row(row)).put("f", "", "x".repeat(1000));
  }

  private static String row(int number) {
    return "row" + number;
  }

  private static void readAll(List<Table> tables) throws IOException {
    try (WorkerPool readers = SystemRuntime.INSTANCE.pool("reader", TABLES)) {
      FanOut.eachIo(
          SystemRuntime.INSTANCE, readers, TABLES, tables, HungDataNodeIT::readAll, "reading");
    }
  }

  private static void readAll(Table table) throws IOException {
    for (int row = 0; row < ROWS; row++) {
      assertThat(table.readRow(row(row))).as("row %s of %s", row, table.name()).isPresent();
    }
    int scanned = 0;
    try (Rows rows = table.readRows(RowQuery.ALL)) {
      for (Row row : rows) {
        assertThat(row.cells()).hasSize(1);
        scanned++;
      }
    }
    assertThat(scanned).isEqualTo(ROWS);
  }
}
