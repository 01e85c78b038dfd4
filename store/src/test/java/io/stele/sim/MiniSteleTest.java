package io.stele.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.client.Stele;
import io.stele.client.Table;
import io.stele.model.Bytes;
import io.stele.model.Mutation;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.model.TableSchema;
import java.io.IOException;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Whole clusters in memory: masters, tablet servers and a client in this JVM. */
@Timeout(120)
class MiniSteleTest {
  private static final Configuration CONF = MiniStele.quick(new Configuration(false));

  @Test
  void aTableIsCreatedWrittenReadAndDropped() throws IOException {
    try (MiniStele cluster = MiniStele.start(CONF, Site.inMemory(), 2, 1)) {
      Stele stele = cluster.client();
      stele.admin().createTable(TableSchema.of("web", "f"), List.of(Bytes.of("m")));
      Table table = stele.table("web");
      table.mutate(Mutation.of("a").put("f", "q", "1"));
      table.mutate(Mutation.of("z").put("f", "q", "2"));
      assertThat(table.readRow("a").orElseThrow().value("f", "q")).contains(Bytes.of("1"));
      assertThat(table.readRow("z").orElseThrow().value("f", "q")).contains(Bytes.of("2"));
      assertThatThrownBy(() -> stele.admin().createTable(TableSchema.of("web", "g")))
          .isInstanceOf(SteleException.class)
          .hasMessageContaining("already");
      stele.admin().dropTable("web");
      assertThat(stele.admin().listTables()).isEmpty();
      stele.admin().createTable(TableSchema.of("web", "f"));
      assertThat(stele.table("web").readRow("a")).isEmpty();
      assertThat(cluster.aborts()).isEmpty();
    }
  }

  @Test
  void whatWasAcknowledgedSurvivesTheDeathOfEveryServerInTurn() throws IOException {
    try (MiniStele cluster = MiniStele.start(CONF, Site.inMemory(), 2, 2)) {
      Stele stele = cluster.client();
      stele.admin().createTable(TableSchema.of("t", "f"), List.of(Bytes.of("5")));
      Table table = stele.table("t");
      for (int round = 0; round < 4; round++) {
        for (int i = 0; i < 10; i++) {
          table.mutate(Mutation.of(i + "-" + round).put("f", "q", "v" + round));
        }
        ServerId victim = cluster.servers().get(0);
        cluster.killServer(victim);
        cluster.startServer();
        for (int before = 0; before <= round; before++) {
          for (int i = 0; i < 10; i++) {
            assertThat(table.readRow(i + "-" + before).orElseThrow().value("f", "q"))
                .contains(Bytes.of("v" + before));
          }
        }
      }
      assertThat(cluster.aborts()).isEmpty();
    }
  }

  @Test
  void aMasterThatDiesIsReplacedAndNothingIsLost() throws IOException {
    try (MiniStele cluster = MiniStele.start(CONF, Site.inMemory(), 1, 3)) {
      Stele stele = cluster.client();
      stele.admin().createTable(TableSchema.of("t", "f"));
      Table table = stele.table("t");
      table.mutate(Mutation.of("a").put("f", "q", "1"));
      cluster.killMaster();
      table.mutate(Mutation.of("b").put("f", "q", "2"));
      cluster.startMaster();
      cluster.master();
      stele.admin().createTable(TableSchema.of("u", "f"));
      cluster.killServer(cluster.servers().get(0));
      cluster.startServer();
      assertThat(table.readRow("a")).isPresent();
      assertThat(table.readRow("b")).isPresent();
      assertThat(stele.table("u").readRow("a")).isEmpty();
    }
  }
}
