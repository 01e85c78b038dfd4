package io.stele.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.metadata.ServerInfo;
import io.stele.metadata.TabletRecord;
import io.stele.model.Bytes;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.model.TableSchema;
import io.stele.model.TabletId;
import io.stele.runtime.SystemRuntime;
import io.stele.sim.MiniStele;
import io.stele.sim.Site;
import io.stele.wire.Address;
import io.stele.wire.ControlPlane;
import java.io.IOException;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;

class TableCompactionTest {
  private static final TableId TABLE = new TableId("t1");

  private static Map<ServerId, ServerInfo> servers(int count) {
    Map<ServerId, ServerInfo> servers = new TreeMap<>();
    for (int i = 1; i <= count; i++) {
      Address address = new Address("host" + i, 1);
      servers.put(
          new ServerId("host" + i, 1, 1),
          new ServerInfo(address, address, Optional.empty(), Optional.empty()));
    }
    return servers;
  }

  /** What is done at a server that is called. */
  private interface Compaction {
    void at(Address server) throws IOException;
  }

  private static void compact(int servers, Compaction compaction) throws IOException {
    ControlPlane plane =
        new ControlPlane() {
          @Override
          public <P, R> R call(Address server, Class<P> protocol, Duration timeout, Call<P, R> call)
              throws IOException {
            compaction.at(server);
            return null;
          }

          @Override
          public void retain(Set<Address> servers) {}
        };
    new TableCompaction(SystemRuntime.INSTANCE, plane).on(servers(servers), TABLE);
  }

  @Test
  void serversCompactAtOnce() throws IOException {
    CountDownLatch all = new CountDownLatch(5);
    compact(
        5,
        server -> {
          all.countDown();
          try {
            assertThat(all.await(60, TimeUnit.SECONDS)).as("all were asked").isTrue();
          } catch (InterruptedException e) {
            throw new IOException(e);
          }
        });
  }

  @Test
  void aServerThatFailsKeepsNoOtherFromCompacting() {
    Collection<String> asked = new ConcurrentLinkedQueue<>();
    assertThatThrownBy(
            () ->
                compact(
                    100,
                    server -> {
                      asked.add(server.host());
                      if (server.host().equals("host1")) {
                        throw SteleException.retryLater("host1 is busy");
                      } else if (server.host().equals("host2")) {
                        throw new IOException("host2 is gone");
                      }
                    }))
        .satisfies(
            e ->
                assertThat(List.of(e, e.getSuppressed()[0]))
                    .extracting(Throwable::getMessage)
                    .containsExactlyInAnyOrder("host1 is busy", "host2 is gone"));
    assertThat(asked).hasSize(100);
  }

  @Test
  void theTabletsThatMayBeLeftOutAreNamed() throws Exception {
    Configuration conf = MiniStele.quick(new Configuration(false));
    try (MiniStele cluster = MiniStele.start(conf, Site.inMemory(), 2, 1)) {
      Admin admin = cluster.client().admin();
      admin.setBalanced(false);
      admin.createTable(TableSchema.of("web", "f"), List.of(Bytes.of("h"), Bytes.of("p")));
      List<TabletRecord> before = records(admin);
      Set<ServerId> all = Set.copyOf(cluster.servers());
      assertThat(TableCompaction.leftOut(before, before, all)).isEmpty();
      assertThat(TableCompaction.leftOut(before, before, Set.of()))
          .as("tablets of servers that were not asked, as they are dead")
          .hasSize(3);

      TabletId middle = before.get(1).id();
      admin.moveTablet("web", Bytes.of("m"), Optional.empty());
      List<TabletRecord> moved = records(admin);
      assertThat(TableCompaction.leftOut(before, moved, all)).containsExactly(middle);
      admin.moveTablet("web", Bytes.of("m"), Optional.empty());
      assertThat(TableCompaction.leftOut(before, records(admin), all))
          .as("a tablet that is back where it was")
          .containsExactly(middle);

      admin.splitTablet("web", Bytes.of("c"));
      List<TabletRecord> split = records(admin);
      assertThat(TableCompaction.leftOut(before, split, all))
          .containsExactly(split.get(0).id(), split.get(1).id(), middle);
      assertThat(admin.compactTable("web")).isEmpty();
    }
  }

  private static List<TabletRecord> records(Admin admin) throws IOException {
    Connection connection = admin.calls().connection();
    return connection.tabletRecords(admin.tableId("web"), "web");
  }
}
