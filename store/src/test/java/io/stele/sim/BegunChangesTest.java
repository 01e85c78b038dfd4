package io.stele.sim;

import static io.stele.SteleErrors.assertFails;
import static io.stele.sim.BusyTable.row;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.client.Admin;
import io.stele.client.ClusterChange;
import io.stele.model.Bytes;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Changes of tablets and servers that are begun: they are made whether or not somebody waits, and
 * who looks is told how far they are.
 */
@ExtendWith(Cores.One.class)
class BegunChangesTest {
  @Test
  void changesOfTabletsAreMadeWhetherOrNotSomebodyWaitsForThem() throws Exception {
    BusyTable table = new BusyTable(0, 4);
    table.run(
        () -> {
          Admin admin = table.admin();
          admin.setBalanced(false);
          ServerId to = table.server(0).id();
          List<ClusterChange> moves = new ArrayList<>();
          for (int i = 0; i < 4; i++) {
            moves.add(admin.beginMoveTablet("t", row(i), Optional.of(to)));
          }
          table.sleep(Duration.ofSeconds(2));
          assertThat(table.tabletsByServer()).as("nobody waited").containsExactly(Map.entry(to, 4));
          for (ClusterChange move : moves) {
            assertThat(move.progress())
                .isEqualTo(new ClusterChange.Progress(true, "", Optional.of(to)));
          }

          ClusterChange merge = admin.beginMergeTablet("t", row(1));
          ClusterChange split = admin.beginSplitTablet("t", Bytes.of("00025"));
          assertThat(merge.progress().done()).isFalse();
          assertThat(merge.progress().waitsFor()).contains("to be unloaded");
          table.sleep(Duration.ofSeconds(2));
          assertThat(table.starts())
              .as("nobody waited")
              .containsExactly("", "0002", "00025", "0003");
          merge.await();
          split.await();
          admin.splitTablet("t", row(1));
          assertThat(merge.progress().done()).as("it was done, once").isTrue();
          assertThat(table.starts()).contains("0001");

          ClusterChange balance = admin.beginBalanceNow();
          assertThat(balance.progress().done()).isFalse();
          table.sleep(Duration.ofSeconds(5));
          assertThat(table.tabletsByServer().values())
              .as("nobody waited")
              .containsExactlyInAnyOrder(2, 2, 1);
          assertThat(balance.progress().done()).isTrue();
        });
    table.assertNoWriteTookLong();
  }

  @Test
  void aMoveIsBegunThoughTheMasterHasYetToHearOfTheTablet() throws Exception {
    for (BusyTable table : BusyTable.ofSeeds(3, 1)) {
      table.run(
          () -> {
            Admin admin = table.admin();
            admin.setBalanced(false);
            for (SimulatedCluster.Slot server : table.slots(SimulatedCluster.Kind.SERVER)) {
              table.cluster().network().setDelay(server.process(), Duration.ofMillis(300));
            }
            for (int i = 1; i < 6; i++) {
              Optional<ServerId> to = Optional.of(table.server(i % 3).id());
              admin.splitTablet("t", row(i));
              admin.beginMoveTablet("t", row(i), to); // Nobody waits for it.
              table.sleep(Duration.ofSeconds(8));
              assertThat(table.serverOf(row(i))).isEqualTo(to);
            }
          });
    }
  }

  @Test
  void whetherAChangeThatWasBegunWasMadeIsUnknownWhileNoMasterAnswers() throws Exception {
    BusyTable table = new BusyTable(0, 4);
    table.run(
        () -> {
          table.admin().setBalanced(false);
          Optional<ServerId> target = Optional.of(otherThanTheServerOf(row(1), table));
          ClusterChange move = table.admin().beginMoveTablet("t", row(1), target);
          List<SimulatedCluster.Slot> masters = table.slots(SimulatedCluster.Kind.MASTER);
          masters.forEach(master -> master.process().pause());
          assertFails(SteleException.Code.OUTCOME_UNKNOWN, move::progress)
              .hasMessageContaining("may still be done");
          masters.forEach(master -> master.process().resume());
          assertThat(move.await().server()).isEqualTo(target);
        });
  }

  private static ServerId otherThanTheServerOf(Bytes row, BusyTable table) throws IOException {
    ServerId first = table.server(0).id();
    return table.serverOf(row).filter(first::equals).isPresent() ? table.server(1).id() : first;
  }

  @Test
  void aSplitOfWhichNoAnswerCameIsUnknown() throws Exception {
    BusyTable table = new BusyTable(0, 2);
    table.run(
        () -> {
          table.admin().setBalanced(false);
          int unknown = 0;
          for (int i = 0; i < 3; i++) { // One of them has METADATA: there nothing is sent.
            SimulatedProcess cutOff = table.cluster().clientProcess();
            Admin admin = table.cluster().connect(cutOff).admin();
            table.admin().moveTablet("t", row(1), Optional.of(table.server(i).id()));
            Bytes at = Bytes.of("0001" + (9 - i));
            table.loseAnswers(table.slots(SimulatedCluster.Kind.SERVER).get(i), cutOff);
            try {
              admin.beginSplitTablet("t", at);
            } catch (SteleException e) {
              boolean saysUnknown = e.code() == SteleException.Code.OUTCOME_UNKNOWN;
              assertThat(saysUnknown || !table.starts().contains(at.toUtf8())).as("%s", e).isTrue();
              unknown += saysUnknown ? 1 : 0;
            }
          }
          assertThat(unknown).isPositive();
        });
  }

  @Test
  void aDrainOfWhichNoAnswerCameIsUnknown() throws Exception {
    BusyTable table = new BusyTable(0, 4);
    table.run(
        () -> {
          SimulatedProcess cutOff = table.cluster().clientProcess();
          Admin admin = table.cluster().connect(cutOff).admin();
          ServerId server = table.server(0).id();
          table.loseAnswers(table.slots(SimulatedCluster.Kind.SERVER).get(0), cutOff);
          assertFails(SteleException.Code.OUTCOME_UNKNOWN, () -> admin.beginDrainServer(server));
          assertThat(table.tablets(server)).as("it was made").isZero();
        });
  }

  @Test
  void theOnlyServerThatTakesTabletsKeepsThem() throws Exception {
    BusyTable table = new BusyTable(0, 6);
    table.run(
        () -> {
          Admin admin = table.admin();
          admin.drainServer(table.server(0).id(), Duration.ofSeconds(20));
          admin.drainServer(table.server(1).id(), Duration.ofSeconds(20));
          SimulatedCluster.Slot last = table.slots(SimulatedCluster.Kind.SERVER).get(2);
          ServerId only = table.server(2).id();
          assertFails(SteleException.Code.REFUSED, () -> admin.beginDrainServer(only))
              .hasMessageContaining("no other server takes tablets");

          table.cluster().operator().drain(last); // As if its client had not looked.
          table.sleep(Duration.ofSeconds(3));
          assertThat(table.server(2).isDraining()).isTrue();
          assertThat(table.tabletsByServer()).as("served").containsExactly(Map.entry(only, 6));
          assertThatThrownBy(() -> admin.drainServer(only, Duration.ofSeconds(2)))
              .hasMessageContaining("not done within 2000 ms. The change was begun and continues")
              .hasMessageContaining("it still has");

          admin.undrainServer(table.server(0).id());
          admin.drainServer(only, Duration.ofSeconds(20));
          assertThat(table.tablets(only)).isZero();
        });
    table.assertNoWriteTookLong();
  }

  @Test
  void aRestartThatWasBegunCanBeAwaitedLater() throws Exception {
    BusyTable table = new BusyTable(0, 6);
    table.run(
        () -> {
          ServerId server = table.server(0).id();
          ClusterChange restart = table.admin().beginRestartServer(server);
          assertThat(restart.progress().done()).isFalse();
          restart.await();
          assertReplaced(server, table);
        });
    table.assertNoWriteTookLong();
  }

  @Test
  void aRestartGoesOnWhenTheServerCouldNotGiveItsTabletsAwayAtFirst() throws Exception {
    BusyTable table = new BusyTable(0, 0);
    table.run(
        () -> {
          ServerId server = table.withRowOnFullDisk();
          ClusterChange restart = table.admin().beginRestartServer(server);
          table.sleep(Duration.ofSeconds(5));
          assertThat(restart.progress().waitsFor()).contains("it tries again");
          table.cluster().files().setFull(false);
          restart.await(Duration.ofMinutes(1));
          assertReplaced(server, table);
        });
  }

  /** Another server runs in its place. */
  private static void assertReplaced(ServerId server, BusyTable table) throws IOException {
    assertThat(table.servers()).hasSize(3).noneMatch(one -> one.id().equals(server));
  }

  @Test
  void aRestartThatAnOperatorUndidBetweenTwoTriesIsNotMade() throws Exception {
    BusyTable table = new BusyTable(0, 0);
    table.run(
        () -> {
          ServerId server = table.withRowOnFullDisk();
          table.admin().beginRestartServer(server);
          table.sleep(Duration.ofSeconds(5));
          table.undrain(server);
          table.cluster().files().setFull(false);
          table.sleep(Duration.ofMinutes(10));
          assertThat(table.servers())
              .hasSize(3)
              .anyMatch(one -> one.id().equals(server) && !one.draining());
        });
  }
}
