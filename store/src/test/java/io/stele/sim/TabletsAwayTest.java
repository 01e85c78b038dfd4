package io.stele.sim;

import static io.stele.sim.BusyTable.AWAY_MAX;
import static io.stele.sim.BusyTable.row;
import static org.assertj.core.api.Assertions.assertThat;

import io.stele.client.ClusterChange;
import io.stele.client.Jobs;
import io.stele.model.Bytes;
import io.stele.model.RowRange;
import io.stele.model.ServerId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * How long clients wait for tablets that go to another server, in virtual time: what computing
 * takes does not count, every message, file and pause does.
 */
@ExtendWith(Cores.One.class)
class TabletsAwayTest {
  private static final Duration PINNED_MAX = Duration.ofSeconds(5);
  private static final Duration SPREAD_MAX = Duration.ofSeconds(1);
  private static final Duration MUTE = Duration.ofSeconds(25);

  @Test
  void aTabletThatMovesIsAwayForLessThanHalfASecond() throws Exception {
    for (BusyTable table : BusyTable.ofSeeds(3, 4)) {
      table.run(
          () -> {
            for (int i = 0; i < 8; i++) {
              ServerId to = table.server(i % 3).id();
              assertThat(table.admin().moveTablet("t", row(i % 4), Optional.of(to))).isEqualTo(to);
              table.sleep(Duration.ofMillis(500));
            }
          });
      table.assertNoWriteTookLong();
      assertThat(table.writes()).isGreaterThan(500);
    }
  }

  @Test
  void tabletsThatAreMergedAreAwayForLessThanHalfASecond() throws Exception {
    for (BusyTable table : BusyTable.ofSeeds(3, 6)) {
      table.run(
          () -> {
            for (int i = 1; i < 6; i++) {
              table.admin().mergeTablet("t", row(i));
              table.sleep(Duration.ofMillis(500));
            }
            table.admin().splitTablet("t", row(3));
            table.admin().mergeTablet("t", row(3));
            assertThat(table.tablets()).hasSize(1);
          });
      table.assertNoWriteTookLong();
      assertThat(table.writes()).isGreaterThan(500);
    }
  }

  @Test
  void aHundredTabletsOfALoadedServerLeaveItTogetherAndEachIsAwayForLessThanHalfASecond()
      throws Exception {
    for (BusyTable table : BusyTable.ofSeeds(1, 300)) {
      table.run(
          () -> {
            ServerId drained = table.server(0).id();
            assertThat(table.tablets(drained)).isGreaterThan(90);
            Duration took =
                table.time(
                    () -> {
                      ClusterChange drain = table.admin().beginDrainServer(drained);
                      assertThat(drain.progress().done()).isFalse();
                      drain.await();
                    });
            assertThat(took).isLessThan(Duration.ofSeconds(10));
            assertThat(table.tablets(drained)).isZero();
            table.admin().undrainServer(drained);
            table.sleep(Duration.ofSeconds(2));
            assertThat(table.servers()).noneMatch(server -> server.draining());
          });
      table.assertNoWriteTookLong();
    }
  }

  @Test
  void allServersAndTheMasterAreRestartedInTurnAndNoCallFails() throws Exception {
    for (BusyTable table : BusyTable.ofSeeds(4, 20)) {
      table.run(
          () -> {
            List<ServerId> before = new ArrayList<>();
            for (int slot = 0; slot < 3; slot++) {
              before.add(table.server(slot).id());
            }
            for (ServerId server : before) {
              table.admin().restartServer(server, Duration.ofSeconds(60));
            }
            table.slots(SimulatedCluster.Kind.MASTER).get(0).process().kill();
            table.sleep(Duration.ofSeconds(20));
            assertThat(table.servers())
                .hasSize(3)
                .noneMatch(server -> before.contains(server.id()));
          });
      table.assertNoWriteTookLong();
      assertThat(table.writes()).isGreaterThan(2000);
    }
  }

  @Test
  void aMasterAnswersClientsThatWaitForItSoonAfterItBeginsToServe() throws Exception {
    for (BusyTable table : BusyTable.ofSeeds(3, 4)) {
      List<Duration> waits = new ArrayList<>();
      table.run(
          () -> {
            table.cluster().add(SimulatedCluster.Kind.MASTER);
            table.sleep(Duration.ofSeconds(5));
            for (int i = 0; i < 3; i++) {
              waits.add(table.killMaster());
              table.sleep(Duration.ofSeconds(20));
            }
          });
      assertThat(Collections.max(waits)).as("%s", table).isLessThan(AWAY_MAX);
    }
  }

  @Test
  void aNewServerHasItsShareWithinAMinuteWhileClientsHardlyNotice() throws Exception {
    for (BusyTable table : BusyTable.ofSeeds(1, 40)) {
      table.run(
          () -> {
            table.cluster().add(SimulatedCluster.Kind.SERVER);
            table.sleep(Duration.ofSeconds(60));
            assertThat(table.servers()).hasSize(4).allMatch(server -> server.tablets() >= 8);
          });
      table.assertNoWriteTookLong();
    }
  }

  @Test
  void tabletsThatAreSmallAndHardlyAskedAreMergedByThemselvesWhileClientsHardlyNotice()
      throws Exception {
    for (BusyTable table : BusyTable.ofSeeds(1, 2)) {
      table.mergeAfter = "10s";
      table.pause = Duration.ofSeconds(3);
      table.run(
          () -> {
            for (int i = 0; i < 4; i++) {
              table.admin().splitTablet("t", Bytes.of("0000" + i));
            }
            assertThat(table.tablets()).hasSize(6);
            table.admin().setBalanced(false);
            table.sleep(Duration.ofSeconds(60));
            assertThat(table.tablets()).hasSize(6);
            table.admin().setBalanced(true);
            table.sleep(Duration.ofSeconds(200));
            assertThat(table.tablets()).as("as it was created").hasSize(2);
          });
      table.assertNoWriteTookLong();
    }
  }

  @Test
  void tabletsMadeByACommitAreOnAllServersAtOnce() throws Exception {
    for (BusyTable table : BusyTable.ofSeeds(1, 1)) {
      table.run(
          () -> {
            table.commitWithCuts(60);
            table.sleep(SPREAD_MAX); // The balancer moves at most four in a second.
            assertThat(table.tabletsByServer().values()).containsExactly(20, 20, 20);
          });
      table.assertNoWriteTookLong();
    }
  }

  @Test
  void tabletsMadeByACommitStayWhereAnOperatorHasTurnedBalancingOff() throws Exception {
    BusyTable table = new BusyTable(0, 1);
    table.run(
        () -> {
          table.admin().setBalanced(false);
          table.commitWithCuts(12);
          table.sleep(SPREAD_MAX);
          assertThat(table.tabletsByServer().values()).containsExactly(12);
        });
  }

  @Test
  void threeHundredTabletsArePinnedWithinSecondsWhileClientsWrite() throws Exception {
    for (BusyTable table : BusyTable.ofSeeds(1, 300)) {
      table.run(
          () -> {
            Jobs jobs = table.client().jobs();
            String job = jobs.begin(Duration.ofMinutes(1));
            assertThat(table.time(() -> jobs.pin(job, "t", RowRange.ALL))).isLessThan(PINNED_MAX);
            assertThat(table.client().table("t").atPin(job).pinnedTablets().all()).hasSize(300);
            jobs.end(job);
          });
    }
  }

  @Test
  void tabletsArePinnedThoughMetadataCannotBeReadForAWhile() throws Exception {
    for (BusyTable table : BusyTable.ofSeeds(1, 4)) {
      table.clientTimeout = "60s";
      table.run(
          () -> {
            SimulatedProcess cutOff = table.cluster().clientProcess();
            Jobs jobs = table.cluster().connect(cutOff).jobs();
            String job = jobs.begin(Duration.ofMinutes(1));
            table.cutFromServers(cutOff);
            cutOff.after(MUTE, () -> table.cluster().network().cut((from, to) -> false));
            assertThat(table.time(() -> jobs.pin(job, "t", RowRange.ALL))).isGreaterThan(MUTE);
            assertThat(table.client().table("t").atPin(job).pinnedTablets().all()).hasSize(4);
          });
    }
  }
}
