package io.stele.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.Seeds;
import io.stele.bulk.JobOutput;
import io.stele.client.Admin;
import io.stele.client.ClusterChange;
import io.stele.client.Jobs;
import io.stele.client.Stele;
import io.stele.client.Table;
import io.stele.client.TabletInfo;
import io.stele.config.Keys;
import io.stele.lock.LockService;
import io.stele.metadata.MasterInfo;
import io.stele.model.Bytes;
import io.stele.model.ColumnFamily;
import io.stele.model.Mutation;
import io.stele.model.RowRange;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.model.TableId;
import io.stele.model.TableSchema;
import io.stele.tabletserver.TabletServer;
import io.stele.wire.Address;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.assertj.core.api.AbstractThrowableAssert;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * How long clients wait for tablets that go to another server, in virtual time: what computing
 * takes does not count, every message, file and pause does.
 */
@ExtendWith(Cores.One.class)
class TabletsAwayTest {
  private static final Duration PINNED_MAX = Duration.ofSeconds(5);
  private static final Duration AWAY_MAX = Duration.ofMillis(500);
  private static final Duration PAUSE = Duration.ofMillis(20);
  private static final Duration SPREAD_MAX = Duration.ofSeconds(1);
  private static final Duration MUTE = Duration.ofSeconds(25);
  private static final Duration START_MAX = Duration.ofSeconds(60);

  @Test
  void aTabletThatMovesIsAwayForLessThanHalfASecond() throws Exception {
    for (long seed : Seeds.of(3).toArray()) {
      World world = new World(seed, 4);
      world.run(
          () -> {
            for (int i = 0; i < 8; i++) {
              ServerId to = world.server(i % 3).id();
              assertThat(world.client.admin().moveTablet("t", World.row(i % 4), Optional.of(to)))
                  .isEqualTo(to);
              world.process.sleep(Duration.ofMillis(500));
            }
          });
      assertThat(world.longestGap).as("seed %d", seed).isLessThan(AWAY_MAX);
      assertThat(world.writes).isGreaterThan(500);
    }
  }

  @Test
  void changesOfTabletsAreMadeWhetherOrNotSomebodyWaitsForThem() throws Exception {
    World world = new World(0, 4);
    world.run(
        () -> {
          Admin admin = world.client.admin();
          admin.setBalanced(false);
          ServerId to = world.server(0).id();
          List<ClusterChange> moves = new ArrayList<>();
          for (int i = 0; i < 4; i++) {
            moves.add(admin.beginMoveTablet("t", World.row(i), Optional.of(to)));
          }
          world.process.sleep(Duration.ofSeconds(2));
          assertThat(world.tabletsByServer()).as("nobody waited").containsExactly(Map.entry(to, 4));
          for (ClusterChange move : moves) {
            assertThat(move.progress())
                .isEqualTo(new ClusterChange.Progress(true, "", Optional.of(to)));
          }

          ClusterChange merge = admin.beginMergeTablet("t", World.row(1));
          ClusterChange split = admin.beginSplitTablet("t", Bytes.of("00025"));
          assertThat(merge.progress().done()).isFalse();
          assertThat(merge.progress().waitsFor()).contains("to be unloaded");
          world.process.sleep(Duration.ofSeconds(2));
          assertThat(world.starts())
              .as("nobody waited")
              .containsExactly("", "0002", "00025", "0003");
          merge.await();
          split.await();
          admin.splitTablet("t", World.row(1));
          assertThat(merge.progress().done()).as("it was done, once").isTrue();
          assertThat(world.starts()).contains("0001");

          ClusterChange balance = admin.beginBalanceNow();
          assertThat(balance.progress().done()).isFalse();
          world.process.sleep(Duration.ofSeconds(5));
          assertThat(world.tabletsByServer().values())
              .as("nobody waited")
              .containsExactlyInAnyOrder(2, 2, 1);
          assertThat(balance.progress().done()).isTrue();
        });
    assertThat(world.longestGap).isLessThan(AWAY_MAX);
  }

  @Test
  void aMoveIsBegunThoughTheMasterHasYetToHearOfTheTablet() throws Exception {
    for (long seed : Seeds.of(3).toArray()) {
      World world = new World(seed, 1);
      world.run(
          () -> {
            Admin admin = world.client.admin();
            admin.setBalanced(false);
            for (SimulatedCluster.Slot server : world.cluster.slots(SimulatedCluster.Kind.SERVER)) {
              world.cluster.network().setDelay(server.process(), Duration.ofMillis(300));
            }
            for (int i = 1; i < 6; i++) {
              ServerId to = world.server(i % 3).id();
              admin.splitTablet("t", World.row(i));
              admin.beginMoveTablet("t", World.row(i), Optional.of(to)); // Nobody waits for it.
              world.process.sleep(Duration.ofSeconds(8));
              assertThat(world.serverOf(World.row(i))).isEqualTo(Optional.of(to));
            }
          });
    }
  }

  @Test
  void whetherAChangeThatWasBegunWasMadeIsUnknownWhileNoMasterAnswers() throws Exception {
    World world = new World(0, 4);
    world.run(
        () -> {
          Admin admin = world.client.admin();
          admin.setBalanced(false);
          ServerId to = world.server(0).id();
          ServerId other = world.server(1).id();
          Optional<ServerId> target =
              world.serverOf(World.row(1)).filter(to::equals).isPresent()
                  ? Optional.of(other)
                  : Optional.of(to);
          ClusterChange move = admin.beginMoveTablet("t", World.row(1), target);
          List<SimulatedCluster.Slot> masters = world.cluster.slots(SimulatedCluster.Kind.MASTER);
          masters.forEach(master -> master.process().pause());
          assertFails(SteleException.Code.OUTCOME_UNKNOWN, move::progress)
              .hasMessageContaining("may still be done");
          masters.forEach(master -> master.process().resume());
          assertThat(move.await().server()).isEqualTo(target);
        });
  }

  @Test
  void aSplitOfWhichNoAnswerCameIsUnknown() throws Exception {
    World world = new World(0, 2);
    world.run(
        () -> {
          world.client.admin().setBalanced(false);
          int unknown = 0;
          for (int i = 0; i < 3; i++) { // One of them has METADATA: there nothing is sent.
            SimulatedProcess cutOff = world.cluster.clientProcess();
            Admin admin = world.cluster.connect(cutOff).admin();
            SimulatedCluster.Slot slot = world.cluster.slots(SimulatedCluster.Kind.SERVER).get(i);
            world.client.admin().moveTablet("t", World.row(1), Optional.of(world.server(i).id()));
            Bytes at = Bytes.of("0001" + (9 - i));
            world.cluster.network().cut((from, to) -> from == slot.process() && to == cutOff);
            try {
              admin.beginSplitTablet("t", at);
            } catch (SteleException e) {
              boolean saysUnknown = e.code() == SteleException.Code.OUTCOME_UNKNOWN;
              assertThat(saysUnknown || !world.starts().contains(at.toUtf8())).as("%s", e).isTrue();
              unknown += saysUnknown ? 1 : 0;
            }
          }
          assertThat(unknown).isPositive();
        });
  }

  @Test
  void theOnlyServerThatTakesTabletsKeepsThem() throws Exception {
    World world = new World(0, 6);
    world.run(
        () -> {
          Admin admin = world.client.admin();
          admin.drainServer(world.server(0).id(), Duration.ofSeconds(20));
          admin.drainServer(world.server(1).id(), Duration.ofSeconds(20));
          SimulatedCluster.Slot last = world.cluster.slots(SimulatedCluster.Kind.SERVER).get(2);
          ServerId only = world.server(2).id();
          assertFails(SteleException.Code.REFUSED, () -> admin.beginDrainServer(only))
              .hasMessageContaining("no other server takes tablets");

          world.cluster.operator().drain(last); // As if its client had not looked.
          world.process.sleep(Duration.ofSeconds(3));
          assertThat(world.server(2).isDraining()).isTrue();
          assertThat(world.tabletsByServer()).as("served").containsExactly(Map.entry(only, 6));
          assertThatThrownBy(() -> admin.drainServer(only, Duration.ofSeconds(2)))
              .hasMessageContaining("not done within 2000 ms. The change was begun and continues")
              .hasMessageContaining("it still has");

          admin.undrainServer(world.server(0).id());
          admin.drainServer(only, Duration.ofSeconds(20));
          assertThat(world.tablets(only)).isZero();
        });
    assertThat(world.longestGap).isLessThan(AWAY_MAX);
  }

  @Test
  void aDrainOfWhichNoAnswerCameIsUnknown() throws Exception {
    World world = new World(0, 4);
    world.run(
        () -> {
          SimulatedProcess cutOff = world.cluster.clientProcess();
          Admin admin = world.cluster.connect(cutOff).admin();
          SimulatedCluster.Slot slot = world.cluster.slots(SimulatedCluster.Kind.SERVER).get(0);
          ServerId server = world.server(0).id();
          world.cluster.network().cut((from, to) -> from == slot.process() && to == cutOff);
          assertFails(SteleException.Code.OUTCOME_UNKNOWN, () -> admin.beginDrainServer(server));
          assertThat(world.tablets(server)).as("it was made").isZero();
        });
  }

  @Test
  void tabletsThatAreMergedAreAwayForLessThanHalfASecond() throws Exception {
    for (long seed : Seeds.of(3).toArray()) {
      World world = new World(seed, 6);
      world.run(
          () -> {
            for (int i = 1; i < 6; i++) {
              world.client.admin().mergeTablet("t", World.row(i));
              world.process.sleep(Duration.ofMillis(500));
            }
            world.client.admin().splitTablet("t", World.row(3));
            world.client.admin().mergeTablet("t", World.row(3));
            assertThat(world.client.table("t").tablets()).hasSize(1);
          });
      assertThat(world.longestGap).as("seed %d", seed).isLessThan(AWAY_MAX);
      assertThat(world.writes).isGreaterThan(500);
    }
  }

  @Test
  void aHundredTabletsOfALoadedServerLeaveItTogetherAndEachIsAwayForLessThanHalfASecond()
      throws Exception {
    for (long seed : Seeds.of(1).toArray()) {
      World world = new World(seed, 300);
      world.run(
          () -> {
            ServerId drained = world.server(0).id();
            assertThat(world.tablets(drained)).isGreaterThan(90);
            long start = world.process.nanoTime();
            ClusterChange drain = world.client.admin().beginDrainServer(drained);
            assertThat(drain.progress().done()).isFalse();
            drain.await();
            assertThat(world.process.nanoTime() - start)
                .isLessThan(Duration.ofSeconds(10).toNanos());
            assertThat(world.tablets(drained)).isZero();
            world.client.admin().undrainServer(drained);
            world.process.sleep(Duration.ofSeconds(2));
            assertThat(world.client.admin().clusterStatus().servers())
                .noneMatch(server -> server.draining());
          });
      assertThat(world.longestGap).as("seed %d", seed).isLessThan(AWAY_MAX);
    }
  }

  @Test
  void aRestartThatWasBegunCanBeAwaitedLater() throws Exception {
    World world = new World(0, 6);
    world.run(
        () -> {
          ServerId server = world.server(0).id();
          ClusterChange restart = world.client.admin().beginRestartServer(server);
          assertThat(restart.progress().done()).isFalse();
          restart.await();
          assertThat(world.client.admin().clusterStatus().servers())
              .hasSize(3)
              .noneMatch(one -> one.id().equals(server));
        });
    assertThat(world.longestGap).isLessThan(AWAY_MAX);
  }

  @Test
  void aRestartGoesOnWhenTheServerCouldNotGiveItsTabletsAwayAtFirst() throws Exception {
    World world = new World(0, 0);
    world.run(
        () -> {
          ServerId server = world.withRowOnFullDisk();
          ClusterChange restart = world.client.admin().beginRestartServer(server);
          world.process.sleep(Duration.ofSeconds(5));
          assertThat(restart.progress().waitsFor()).contains("it tries again");
          world.cluster.files().setFull(false);
          restart.await(Duration.ofMinutes(1));
          assertThat(world.client.admin().clusterStatus().servers())
              .hasSize(3)
              .noneMatch(one -> one.id().equals(server));
        });
  }

  @Test
  void aRestartThatAnOperatorUndidBetweenTwoTriesIsNotMade() throws Exception {
    World world = new World(0, 0);
    world.run(
        () -> {
          ServerId server = world.withRowOnFullDisk();
          world.client.admin().beginRestartServer(server);
          world.process.sleep(Duration.ofSeconds(5));
          world.undrain(server);
          world.cluster.files().setFull(false);
          world.process.sleep(Duration.ofMinutes(10));
          assertThat(world.client.admin().clusterStatus().servers())
              .hasSize(3)
              .anyMatch(one -> one.id().equals(server) && !one.draining());
        });
  }

  @Test
  void allServersAndTheMasterAreRestartedInTurnAndNoCallFails() throws Exception {
    for (long seed : Seeds.of(4).toArray()) {
      World world = new World(seed, 20);
      world.run(
          () -> {
            List<ServerId> before = new ArrayList<>();
            for (int slot = 0; slot < 3; slot++) {
              before.add(world.server(slot).id());
            }
            for (ServerId server : before) {
              world.client.admin().restartServer(server, Duration.ofSeconds(60));
            }
            world.cluster.slots(SimulatedCluster.Kind.MASTER).get(0).process().kill();
            world.process.sleep(Duration.ofSeconds(20));
            assertThat(world.client.admin().clusterStatus().servers())
                .hasSize(3)
                .noneMatch(server -> before.contains(server.id()));
          });
      assertThat(world.longestGap).as("seed %d", seed).isLessThan(AWAY_MAX);
      assertThat(world.writes).isGreaterThan(2000);
    }
  }

  @Test
  void aMasterAnswersClientsThatWaitForItSoonAfterItBeginsToServe() throws Exception {
    for (long seed : Seeds.of(3).toArray()) {
      World world = new World(seed, 4);
      Duration[] longest = {Duration.ZERO};
      world.run(
          () -> {
            world.cluster.add(SimulatedCluster.Kind.MASTER);
            world.process.sleep(Duration.ofSeconds(5));
            for (int i = 0; i < 3; i++) {
              longest[0] = Collections.max(List.of(longest[0], world.killMaster()));
              world.process.sleep(Duration.ofSeconds(20));
            }
          });
      assertThat(longest[0]).as("seed %d", seed).isLessThan(AWAY_MAX);
    }
  }

  @Test
  void aNewServerHasItsShareWithinAMinuteWhileClientsHardlyNotice() throws Exception {
    for (long seed : Seeds.of(1).toArray()) {
      World world = new World(seed, 40);
      world.run(
          () -> {
            world.cluster.add(SimulatedCluster.Kind.SERVER);
            world.process.sleep(Duration.ofSeconds(60));
            assertThat(world.client.admin().clusterStatus().servers())
                .hasSize(4)
                .allMatch(server -> server.tablets() >= 8);
          });
      assertThat(world.longestGap).as("seed %d", seed).isLessThan(AWAY_MAX);
    }
  }

  @Test
  void tabletsThatAreSmallAndHardlyAskedAreMergedByThemselvesWhileClientsHardlyNotice()
      throws Exception {
    for (long seed : Seeds.of(1).toArray()) {
      World world = new World(seed, 2);
      world.mergeAfter = "10s";
      world.pause = Duration.ofSeconds(3);
      world.run(
          () -> {
            for (int i = 0; i < 4; i++) {
              world.client.admin().splitTablet("t", Bytes.of("0000" + i));
            }
            assertThat(world.client.table("t").tablets()).hasSize(6);
            world.client.admin().setBalanced(false);
            world.process.sleep(Duration.ofSeconds(60));
            assertThat(world.client.table("t").tablets()).hasSize(6);
            world.client.admin().setBalanced(true);
            world.process.sleep(Duration.ofSeconds(200));
            assertThat(world.client.table("t").tablets()).as("as it was created").hasSize(2);
          });
      assertThat(world.longestGap).as("seed %d", seed).isLessThan(AWAY_MAX);
    }
  }

  @Test
  void tabletsMadeByACommitAreOnAllServersAtOnce() throws Exception {
    for (long seed : Seeds.of(1).toArray()) {
      World world = new World(seed, 1);
      world.run(
          () -> {
            world.commitWithCuts(60);
            world.process.sleep(SPREAD_MAX); // The balancer moves at most four in a second.
            assertThat(world.tabletsByServer().values()).containsExactly(20, 20, 20);
          });
      assertThat(world.longestGap).as("seed %d", seed).isLessThan(AWAY_MAX);
    }
  }

  @Test
  void tabletsMadeByACommitStayWhereAnOperatorHasTurnedBalancingOff() throws Exception {
    World world = new World(0, 1);
    world.run(
        () -> {
          world.client.admin().setBalanced(false);
          world.commitWithCuts(12);
          world.process.sleep(SPREAD_MAX);
          assertThat(world.tabletsByServer().values()).containsExactly(12);
        });
  }

  @Test
  void threeHundredTabletsArePinnedWithinSecondsWhileClientsWrite() throws Exception {
    for (long seed : Seeds.of(1).toArray()) {
      World world = new World(seed, 300);
      world.run(
          () -> {
            String job = world.client.jobs().begin(Duration.ofMinutes(1));
            long start = world.process.nanoTime();
            world.client.jobs().pin(job, "t", RowRange.ALL);
            assertThat(world.process.nanoTime() - start).isLessThan(PINNED_MAX.toNanos());
            assertThat(world.client.table("t").atPin(job).pinnedTablets().all()).hasSize(300);
            world.client.jobs().end(job);
          });
    }
  }

  @Test
  void tabletsArePinnedThoughMetadataCannotBeReadForAWhile() throws Exception {
    for (long seed : Seeds.of(1).toArray()) {
      World world = new World(seed, 4);
      world.clientTimeout = "60s";
      world.run(
          () -> {
            SimulatedProcess cutOff = world.cluster.clientProcess();
            Jobs jobs = world.cluster.connect(cutOff).jobs();
            String job = jobs.begin(Duration.ofMinutes(1));
            world.cutFromServers(cutOff);
            cutOff.after(MUTE, () -> world.cluster.network().cut((from, to) -> false));
            long start = cutOff.nanoTime();
            jobs.pin(job, "t", RowRange.ALL);
            assertThat(cutOff.nanoTime() - start).isGreaterThan(MUTE.toNanos());
            assertThat(world.client.table("t").atPin(job).pinnedTablets().all()).hasSize(4);
          });
    }
  }

  private static AbstractThrowableAssert<?, ? extends Throwable> assertFails(
      SteleException.Code code, ThrowingCallable call) {
    return assertThatThrownBy(call)
        .isInstanceOfSatisfying(SteleException.class, e -> assertThat(e.code()).isEqualTo(code));
  }

  /** One master, three servers, and a client for each tablet, which writes all the time. */
  private static final class World {
    final long seed;
    final Simulation simulation;
    final int tablets;
    SimulatedCluster cluster;
    SimulatedProcess process;
    Stele client;
    Duration longestGap = Duration.ZERO;
    Duration pause = PAUSE; // Of each client, after each write.
    String mergeAfter = "0s";
    String clientTimeout = "8s";
    int writes;
    private boolean ended;

    World(long seed, int tablets) {
      this.seed = seed;
      this.simulation = new Simulation(seed, 30_000_000);
      this.tablets = tablets;
    }

    static Bytes row(int tablet) {
      return Bytes.of(String.format("%04d", tablet));
    }

    TabletServer server(int slot) {
      return cluster.slots(SimulatedCluster.Kind.SERVER).get(slot).server().orElseThrow();
    }

    void cutFromServers(SimulatedProcess client) {
      Set<SimulatedProcess> servers =
          cluster.slots(SimulatedCluster.Kind.SERVER).stream()
              .map(SimulatedCluster.Slot::process)
              .collect(Collectors.toSet());
      cluster
          .network()
          .cut(
              (from, to) ->
                  (from == client && servers.contains(to))
                      || (to == client && servers.contains(from)));
    }

    int tablets(ServerId server) throws IOException {
      return client.admin().clusterStatus().servers().stream()
          .filter(one -> one.id().equals(server))
          .mapToInt(one -> one.tablets())
          .sum();
    }

    /** Commits a job that makes so many tablets. */
    void commitWithCuts(int count) throws IOException {
      Jobs jobs = client.jobs();
      String job = jobs.begin(Duration.ofMinutes(1));
      TableId table = jobs.environment().tableId("t");
      List<JobOutput.Cut> cuts = new ArrayList<>();
      for (int i = 1; i < count; i++) {
        cuts.add(new JobOutput.Cut("t", table, row(i)));
      }
      new JobOutput(jobs, job).commit(cuts, Map.of());
      assertThat(client.table("t").tablets()).hasSize(count);
    }

    /** Writes a row, and fills the disk; returns the server that has the row in memory. */
    ServerId withRowOnFullDisk() throws IOException {
      client.table("t").mutate(Mutation.of(row(0)).put("f", "q", "some value"));
      cluster.files().setFull(true);
      return serverOf(row(0)).orElseThrow();
    }

    /** Lets the server take tablets again, as soon as that is not refused. */
    void undrain(ServerId server) throws IOException, InterruptedException {
      while (true) {
        try {
          client.admin().undrainServer(server);
          return;
        } catch (SteleException e) {
          assertThat(e.code()).isEqualTo(SteleException.Code.REFUSED);
          process.sleep(Duration.ofMillis(10));
        }
      }
    }

    Map<ServerId, Integer> tabletsByServer() throws IOException {
      Map<ServerId, Integer> counts = new TreeMap<>();
      for (TabletInfo tablet : client.table("t").tablets()) {
        counts.merge(tablet.server().orElseThrow(), 1, Integer::sum);
      }
      return counts;
    }

    Optional<ServerId> serverOf(Bytes row) throws IOException {
      return client.table("t").tablets().stream()
          .filter(tablet -> tablet.rows().contains(row))
          .findFirst()
          .flatMap(TabletInfo::server);
    }

    /** The first rows of the tablets. */
    List<String> starts() throws IOException {
      return client.table("t").tablets().stream()
          .map(tablet -> tablet.rows().start().toUtf8())
          .toList();
    }

    /**
     * Kills the active master, and asks the next for its status.
     *
     * @return how long after the next began to serve the answer came
     */
    Duration killMaster() throws Exception {
      LockService locks = cluster.slots(SimulatedCluster.Kind.SERVER).get(0).session();
      Optional<Address> before = MasterInfo.address(locks);
      CompletableFuture<Long> serves = new CompletableFuture<>();
      cluster.slots(SimulatedCluster.Kind.MASTER).stream()
          .filter(master -> master.toString().equals(before.orElseThrow().host()))
          .findFirst()
          .orElseThrow()
          .process()
          .kill();
      process.start(
          "watch",
          () -> {
            try {
              Optional<Address> now = MasterInfo.address(locks);
              while (now.isEmpty() || now.equals(before)) {
                process.sleep(Duration.ofMillis(1));
                now = MasterInfo.address(locks);
              }
              serves.complete(process.nanoTime());
            } catch (IOException | InterruptedException e) {
              serves.completeExceptionally(e);
            }
          });
      while (true) {
        try {
          client.admin().clusterStatus();
          return Duration.ofNanos(process.nanoTime() - process.await(serves));
        } catch (SteleException e) {
          assertThat(e).hasMessageContaining("not done within"); // The lock is kept for longer.
        }
      }
    }

    void run(Simulation.Work work) throws Exception {
      CompletableFuture<Throwable> failure = new CompletableFuture<>();
      simulation.run(
          () -> {
            Configuration conf =
                HistoryPlan.of(0, Duration.ofSeconds(30), Histories.NAMES).configuration();
            conf.set(Keys.MEMTABLE_BYTES.name(), "1m");
            conf.set(Keys.LOG_SEGMENT_BYTES.name(), "4m");
            conf.set(Keys.LOG_SEGMENTS_MAX.name(), "64");
            conf.set(Keys.MERGE_AFTER.name(), mergeAfter);
            conf.set(Keys.CLIENT_TIMEOUT.name(), clientTimeout);
            cluster = new SimulatedCluster(simulation, conf);
            cluster.add(SimulatedCluster.Kind.MASTER);
            for (int i = 0; i < 3; i++) {
              cluster.add(SimulatedCluster.Kind.SERVER);
            }
            process = cluster.clientProcess();
            client = cluster.connect(process);
            simulation.outside().await(process.start("test", () -> test(work, failure)).ended());
          });
      assertThat(failure.getNow(null)).as("seed %d", seed).isNull();
    }

    private void test(Simulation.Work work, CompletableFuture<Throwable> failure) {
      try {
        while (cluster.slots(SimulatedCluster.Kind.SERVER).stream()
            .anyMatch(slot -> slot.server().isEmpty())) {
          process.sleep(Duration.ofMillis(100));
        }
        createTable();
        for (int i = 0; i < tablets; i++) {
          Bytes row = row(i);
          process.start("writes " + row, () -> write(row, failure));
        }
        process.sleep(Duration.ofSeconds(2));
        longestGap = Duration.ZERO; // Locations are known from now on.
        work.run();
        ended = true;
        process.sleep(Duration.ofSeconds(1));
      } catch (Exception | AssertionError e) {
        failure.complete(e);
      }
    }

    private void createTable() throws Exception {
      List<Bytes> splits = new ArrayList<>();
      for (int i = 1; i < tablets; i++) {
        splits.add(row(i));
      }
      long end = process.nanoTime() + START_MAX.toNanos();
      while (true) {
        try {
          client.admin().createTable(TableSchema.of("t", List.of(ColumnFamily.of("f"))), splits);
          return;
        } catch (IOException | SteleException e) {
          if (process.nanoTime() - end >= 0 || e.getMessage().contains("already")) {
            return; // An attempt whose outcome was unknown made it.
          }
          process.sleep(Duration.ofMillis(200));
        }
      }
    }

    private void write(Bytes row, CompletableFuture<Throwable> failure) {
      try {
        Table table = client.table("t");
        while (!ended) {
          long start = process.nanoTime();
          table.mutate(Mutation.of(row).put("f", "q", "some value"));
          writes++;
          Duration took = Duration.ofNanos(process.nanoTime() - start);
          longestGap = took.compareTo(longestGap) > 0 ? took : longestGap;
          process.sleep(pause);
        }
      } catch (Exception e) {
        failure.complete(e);
      }
    }
  }
}
