package io.stele.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.metadata.ServerInfo;
import io.stele.model.Bytes;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.model.TableSchema;
import io.stele.sim.MiniStele;
import io.stele.sim.Site;
import io.stele.wire.TabletServerProtocol;
import io.stele.wire.control.ControlProtos.DrainRequestProto;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What somebody who waits for the draining of a server is told. */
@Timeout(120)
final class DrainProgressTest {
  private static final DrainRequestProto STAY =
      DrainRequestProto.newBuilder().setStay(true).build();

  private static boolean isDraining(MiniStele cluster, ServerId server) throws IOException {
    return ServerInfo.all(cluster.locks()).get(server).draining();
  }

  @Test
  void thatSomebodyElseHasUndoneIt() throws Exception {
    Configuration conf = MiniStele.quick(new Configuration(false));
    try (MiniStele cluster = MiniStele.start(conf, Site.inMemory(), 2, 1)) {
      Admin admin = cluster.client().admin();
      List<Bytes> rows = IntStream.range(0, 100).mapToObj(i -> Bytes.of("row" + i)).toList();
      admin.createTable(TableSchema.of("t", "f"), rows);
      ServerId drained = cluster.servers().get(0);
      ServerId other = cluster.servers().get(1);
      ClusterChange drain = admin.beginDrainServer(drained);
      takeNoTablets(cluster, other); // So that the first cannot give all of its own away.
      MiniStele.await("the drain begins", () -> isDraining(cluster, drained));
      assertThat(drain.progress().done()).isFalse();
      admin.undrainServer(drained);
      assertThatThrownBy(() -> drain.await(Duration.ofSeconds(60)))
          .isInstanceOfSatisfying(
              SteleException.class,
              e -> assertThat(e.code()).isEqualTo(SteleException.Code.REFUSED))
          .hasMessageContaining("somebody has undone it");
    }
  }

  private static void takeNoTablets(MiniStele cluster, ServerId server) throws IOException {
    Map<ServerId, ServerInfo> servers = ServerInfo.all(cluster.locks());
    cluster
        .client()
        .admin()
        .calls()
        .connection()
        .controlPlane()
        .call(
            servers.get(server).control(),
            TabletServerProtocol.class,
            Duration.ofSeconds(10),
            one -> one.drain(null, STAY));
  }
}
