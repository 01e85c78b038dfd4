package io.stele.sim;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.client.Table;
import io.stele.files.HdfsOutage;
import io.stele.model.Mutation;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Masters and tablet servers that are started while HDFS is away. */
class StartDuringOutageTest {
  private static final int SEEDS = 10;
  private static final Duration OUTAGE = Duration.ofSeconds(60);
  private static final Duration BACK_MAX = Duration.ofSeconds(30);

  @Test
  void theyWaitForIt() throws Exception {
    for (long seed = 0; seed < SEEDS; seed++) {
      run(
          seed,
          cluster -> {
            startAgain(cluster);
            cluster.process().sleep(OUTAGE);
            assertThat(cluster.members()).noneMatch(SimulatedProcess::isDead);
            assertThat(starts(cluster)).as("none has ended while it waited").containsOnly(2);
            cluster.cluster().files().setAway(false);
          });
    }
  }

  @Test
  void theyEndIfItIsAwayForLong() throws Exception {
    run(
        1,
        cluster -> {
          startAgain(cluster);
          cluster.process().sleep(HdfsOutage.PATIENCE.multipliedBy(2));
          assertThat(starts(cluster)).allMatch(count -> count > 2);
          cluster.cluster().files().setAway(false);
        });
  }

  /** Writes a row before {@code scenario}, and reads it after that. */
  private static void run(long seed, ClusterFixture.Scenario scenario) throws Exception {
    ClusterFixture.run(
        seed,
        1,
        ClusterFixture.settings(seed, OUTAGE),
        cluster -> {
          Table table = cluster.createTable("t", BACK_MAX);
          cluster.until(BACK_MAX, () -> table.mutate(Mutation.of("row").put("f", "", "value")));
          scenario.run(cluster);
          cluster.until(BACK_MAX, () -> assertThat(table.readRow("row")).isPresent());
        });
  }

  private static List<Integer> starts(ClusterFixture cluster) {
    return cluster.slots().stream().map(SimulatedCluster.Slot::starts).toList();
  }

  /** Ends all members while HDFS is away; they come again at once. */
  private static void startAgain(ClusterFixture cluster) {
    cluster.cluster().files().setAway(true);
    cluster.members().forEach(SimulatedProcess::kill);
  }
}
