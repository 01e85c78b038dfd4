package io.stele.master;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.stele.web.Metric;
import io.stele.web.StatusPage;
import io.stele.wire.control.ControlProtos.ClusterStatusResponseProto;
import io.stele.wire.control.ControlProtos.RecoveryProto;
import io.stele.wire.control.ControlProtos.RunningChangeProto;
import io.stele.wire.control.ControlProtos.ServerStatusProto;
import io.stele.wire.control.ControlProtos.StageProto;
import io.stele.wire.control.ControlProtos.TroubledTabletProto;
import java.util.List;
import org.junit.jupiter.api.Test;

class MasterPageTest {
  private static final StatusPage.Section CLUSTER =
      new StatusPage.Section("Cluster", List.of("name"), List.of(List.of("test")));

  @Test
  void itShowsTheLargestTablesAndHowManyMoreThereAre() {
    StatusPage page =
        MasterPage.of(
            CLUSTER,
            ClusterStatusResponseProto.newBuilder()
                .setMaster("node1:7000")
                .addChanges(
                    RunningChangeProto.newBuilder()
                        .setId("1")
                        .setTable("links")
                        .setParticiple("altered")
                        .setWaitsFor("servers")
                        .setBegunMillis(0))
                .build(),
            new TableOverview.Shown(
                List.of(
                    new TableOverview.Table("web", new TableOverview.Totals(7, 1, 9000)),
                    new TableOverview.Table("links", new TableOverview.Totals(1, 0, 0))),
                5));
    assertThat(page.sections().get(0)).isEqualTo(CLUSTER);
    StatusPage.Section tables = page.sections().get(2);
    assertThat(tables.heading()).isEqualTo("Tables, the largest; there are 3 more");
    assertThat(tables.rows())
        .containsExactly(
            List.of("web", "7", "9000", "1 tablet not served"),
            List.of("links", "1", "0", "being altered"));
  }

  @Test
  void itShowsServersAndWhatTheTimeOfRecoveriesWentInto() {
    StatusPage page =
        MasterPage.of(
            CLUSTER,
            ClusterStatusResponseProto.newBuilder()
                .setMaster("node1:7000")
                .setTablets(12)
                .setUnassigned(2)
                .addServers(
                    ServerStatusProto.newBuilder()
                        .setServerId("node2_41231_1")
                        .setControlAddress("node2:1")
                        .setDataAddress("node2:2")
                        .setWebAddress("node2:3")
                        .setTablets(10)
                        .setLocalPercent(93)
                        .setDraining(true))
                .addRecoveries(
                    RecoveryProto.newBuilder()
                        .setServer("node3_41231_1")
                        .setLostMillis(0)
                        .setDetectionMillis(900)
                        .setTablets(2)
                        .addStages(StageProto.newBuilder().setWhat("closing its log").setMillis(7))
                        .setOver(false))
                .addRecoveries(
                    RecoveryProto.newBuilder()
                        .setServer("node4_41231_1")
                        .setLostMillis(0)
                        .setTablets(1)
                        .setOver(true))
                .addTroubled(
                    TroubledTabletProto.newBuilder()
                        .setTablet("t1/a")
                        .setReason("a file is damaged")
                        .setQuarantined(true))
                .setBalanced(true)
                .build(),
            new TableOverview.Shown(List.of(), 0));
    assertThat(page.title()).isEqualTo("Master node1:7000");
    assertThat(page.sections().get(1).rows())
        .containsExactly(
            List.of("node2:41231", "http://node2:3/", "10", "0", "0", "93 %", "draining"));
    assertThat(page.sections().get(3).rows())
        .contains(
            List.of(
                "node3_41231_1",
                "1970-01-01T00:00:00Z",
                "at most 900 ms",
                "2",
                "",
                "closing its log 7 ms",
                "in progress"));
    assertThat(page.metrics())
        .extracting(Metric::name, metric -> metric.samples().get(0).value().intValue())
        .contains(
            tuple("stele_master_tablets", 12),
            tuple("stele_master_tablets_unassigned", 2),
            tuple("stele_master_servers_draining", 1),
            tuple("stele_master_recoveries_in_progress", 1),
            tuple("stele_master_tablets_in_quarantine", 1),
            tuple("stele_master_balancing", 1));
  }
}
