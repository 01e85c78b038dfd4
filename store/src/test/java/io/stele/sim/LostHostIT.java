package io.stele.sim;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.client.Table;
import io.stele.config.Keys;
import io.stele.model.ColumnFamily;
import io.stele.model.Mutation;
import io.stele.model.ServerId;
import io.stele.model.TableSchema;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A host goes with its tablet server and its DataNode, which closes no connection. The DataNodes
 * wait for each other for ten minutes, so HDFS closes no file that the lost one has a part of.
 */
@Timeout(300)
class LostHostIT {
  private static final int DATA_NODES = 6;
  private static final int TABLES = 6;
  private static final int ROWS = 50;

  /** HDFS's client waits for a minute. */
  private static final String CLIENT_TIMEOUT = "45s";

  @TempDir static Path scratch;

  @Test
  void rowsAreReadAndWrittenAgain() throws Exception {
    try (SeveralDataNodes hdfs = SeveralDataNodes.start(scratch, DATA_NODES, patient());
        MiniStele cluster = MiniStele.start(configuration(hdfs), hdfs.site(), 2, 1)) {
      List<Table> tables = written(cluster);
      ServerId server = cluster.servers().get(0);
      DataNodeProcess lost = hdfs.withMostOf(server.toString()); // Of its log, some of it open.
      lost.suspend();
      try {
        cluster.killServer(server);
        for (Table table : tables) {
          for (int row = 0; row < ROWS; row++) {
            assertThat(table.readRow(row(row))).as("row %d of %s", row, table.name()).isPresent();
          }
        }
        write(tables);
      } finally {
        lost.resume();
      }
    }
  }

  /** New files are soon elsewhere: it is what is open that must not be waited for. */
  private static Configuration patient() {
    Configuration conf = new Configuration();
    conf.setInt("dfs.client.socket-timeout", 600_000);
    conf.setInt("dfs.heartbeat.interval", 1);
    conf.setInt("dfs.namenode.stale.datanode.interval", 3000);
    conf.setBoolean("dfs.namenode.avoid.write.stale.datanode", true);
    return conf;
  }

  private static Configuration configuration(SeveralDataNodes hdfs) {
    Configuration conf = MiniStele.quick(hdfs.conf());
    conf.set(Keys.CLIENT_TIMEOUT.name(), CLIENT_TIMEOUT);
    return conf;
  }

  private static List<Table> written(MiniStele cluster) throws IOException {
    List<Table> tables = new ArrayList<>();
    for (int i = 0; i < TABLES; i++) {
      cluster.createTable(TableSchema.of("t" + i, List.of(ColumnFamily.of("f"))));
      tables.add(cluster.client().table("t" + i));
    }
    write(tables);
    return tables;
  }

  private static void write(List<Table> tables) throws IOException {
    for (Table table : tables) {
      for (int row = 0; row < ROWS; row++) {
        table.mutate(Mutation.of(row(row)).put("f", "", "x".repeat(1000)));
      }
    }
  }

  private static String row(int number) {
    return "row" + number;
  }
}
