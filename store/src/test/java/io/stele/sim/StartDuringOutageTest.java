package io.stele.sim;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.client.Stele;
import io.stele.client.Table;
import io.stele.files.HdfsOutage;
import io.stele.model.ColumnFamily;
import io.stele.model.Mutation;
import io.stele.model.SteleException;
import io.stele.model.TableSchema;
import io.stele.runtime.IoRunnable;
import io.stele.runtime.Task;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Masters and tablet servers that are started while HDFS is away. */
class StartDuringOutageTest {
  private static final int SEEDS = 10;
  private static final long STEPS_MAX = 3_000_000;
  private static final Duration OUTAGE = Duration.ofSeconds(60);
  private static final Duration BACK_MAX = Duration.ofSeconds(30);

  @Test
  void theyWaitForIt() throws Exception {
    for (long seed = 0; seed < SEEDS; seed++) {
      run(
          seed,
          (cluster, process) -> {
            startAgain(cluster);
            process.sleep(OUTAGE);
            List<SimulatedProcess> waiting = members(cluster);
            assertThat(waiting).noneMatch(SimulatedProcess::isDead);
            assertThat(starts(cluster)).as("none has ended while it waited").containsOnly(2);
            cluster.files().setAway(false);
          });
    }
  }

  @Test
  void theyEndIfItIsAwayForLong() throws Exception {
    run(
        1,
        (cluster, process) -> {
          startAgain(cluster);
          process.sleep(HdfsOutage.PATIENCE.multipliedBy(2));
          assertThat(starts(cluster).min(Integer::compare).orElseThrow()).isGreaterThan(2);
          cluster.files().setAway(false);
        });
  }

  private interface Story {
    void tell(SimulatedCluster cluster, SimulatedProcess process) throws Exception;
  }

  private static void run(long seed, Story story) throws Exception {
    Simulation simulation = new Simulation(seed, STEPS_MAX);
    simulation.run(
        () -> {
          SimulatedCluster cluster =
              new SimulatedCluster(
                  simulation, HistoryPlan.of(seed, OUTAGE, Histories.NAMES).configuration());
          for (SimulatedCluster.Kind kind : SimulatedCluster.Kind.values()) {
            cluster.add(kind);
          }
          SimulatedProcess process = cluster.clientProcess();
          CompletableFuture<Throwable> failure = new CompletableFuture<>();
          Task task =
              process.start(
                  "client",
                  () -> {
                    try {
                      writeBeforeAndReadAfter(cluster, process, story);
                    } catch (Exception | AssertionError e) {
                      failure.complete(e);
                    }
                  });
          simulation.outside().await(task.ended());
          assertThat(failure.getNow(null)).as("seed %d", seed).isNull();
        });
  }

  private static void writeBeforeAndReadAfter(
      SimulatedCluster cluster, SimulatedProcess process, Story story) throws Exception {
    Stele client = cluster.connect(process);
    until(
        process,
        () -> client.admin().createTable(TableSchema.of("t", List.of(ColumnFamily.of("f")))));
    Table table = client.table("t");
    until(process, () -> table.mutate(Mutation.of("row").put("f", "", "value")));
    story.tell(cluster, process);
    until(process, () -> assertThat(table.readRow("row")).isPresent());
  }

  private static Stream<SimulatedCluster.Slot> slots(SimulatedCluster cluster) {
    return Stream.of(SimulatedCluster.Kind.values()).flatMap(kind -> cluster.slots(kind).stream());
  }

  private static List<SimulatedProcess> members(SimulatedCluster cluster) {
    return slots(cluster).map(SimulatedCluster.Slot::process).toList();
  }

  private static Stream<Integer> starts(SimulatedCluster cluster) {
    return slots(cluster).map(SimulatedCluster.Slot::starts);
  }

  /** Ends all members while HDFS is away; they come again at once. */
  private static void startAgain(SimulatedCluster cluster) {
    cluster.files().setAway(true);
    members(cluster).forEach(SimulatedProcess::kill);
  }

  private static void until(SimulatedProcess process, IoRunnable call) throws Exception {
    long start = process.nanoTime();
    while (true) {
      try {
        call.run();
        return;
      } catch (SteleException | IOException | AssertionError e) {
        if (process.nanoTime() - start > BACK_MAX.toNanos()) {
          throw e;
        }
        process.sleep(Duration.ofMillis(20));
      }
    }
  }
}
