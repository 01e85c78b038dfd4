package io.stele.sim;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.client.Rows;
import io.stele.client.Table;
import io.stele.config.Keys;
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
import java.util.stream.IntStream;
import org.apache.hadoop.conf.Configuration;
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
    try (SeveralDataNodes hdfs = SeveralDataNodes.start(scratch, DATA_NODES, new Configuration());
        MiniStele cluster = MiniStele.start(configuration(hdfs), hdfs.site(), 1, 1)) {
      List<Table> tables = written(cluster);
      hdfs.first().suspend();
      readAll(tables);
      hdfs.first().resume();
      assertThat(cluster.aborts()).isEmpty();
    }
  }

  /** Every row is read from its file, or nearly. */
  private static Configuration configuration(SeveralDataNodes hdfs) {
    Configuration conf = MiniStele.quick(hdfs.conf());
    conf.set(Keys.CACHE_BYTES.name(), "1m");
    conf.set(Keys.CLIENT_TIMEOUT.name(), CLIENT_TIMEOUT);
    return conf;
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
