package io.stele.sim;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.client.Table;
import io.stele.model.Bytes;
import io.stele.model.Mutation;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Clusters whose lock service loses its nodes, which are restored from the copy in the root
 * directory. {@code -Dstele.seed} is the first, {@code -Dstele.histories} how many, of which this
 * takes a tenth.
 */
@ExtendWith(Cores.One.class)
class LostNodesTest {
  private static final long FIRST = Long.getLong("stele.seed", 0);
  private static final int COUNT = Math.max(1, Histories.COUNT / 10);
  private static final int SEEDS = 10;
  private static final int LOSSES = 5;
  private static final Duration COPIED = Duration.ofSeconds(5);
  private static final Duration LIMIT = Duration.ofSeconds(60);

  @Test
  void nothingIsLostWithTheNodes() throws Exception {
    for (long seed = 0; seed < SEEDS; seed++) {
      ClusterFixture.run(
          seed, 3, ClusterFixture.settings(seed, LIMIT), LostNodesTest::loseAgainAndAgain);
    }
  }

  private static void loseAgainAndAgain(ClusterFixture cluster) throws Exception {
    Table table = cluster.createTable("t", LIMIT);
    for (int i = 1; i <= LOSSES; i++) {
      cluster.process().sleep(COPIED);
      String value = String.valueOf(i);
      cluster.until(LIMIT, () -> table.mutate(Mutation.of("row" + value).put("f", "q", value)));
      if (i % 2 == 0) { // Each tablet has a new record, also root.
        cluster.cluster().killAll();
        cluster.until(LIMIT, () -> table.readRow("row" + value));
      }
      LostNodes nodes = new LostNodes(cluster.cluster());
      cluster.until(LIMIT, () -> assertThat(nodes.loseAndRestore()).isTrue()); // Once it is copied.
      cluster.until(
          LIMIT,
          () -> {
            for (int row = 1; row <= Integer.parseInt(value); row++) {
              assertThat(table.readRow("row" + row).orElseThrow().value("f", "q"))
                  .contains(Bytes.of(String.valueOf(row)));
            }
          });
    }
  }

  @Test
  void nothingIsLostWithTheNodesAmongOtherFaults() throws Exception {
    List<HistoryRun.Report> reports = Histories.runLosingNodes(FIRST, COUNT);
    Optional<HistoryRun.Report> failed =
        reports.stream().filter(report -> !report.isGood()).findFirst();
    assertThat(failed.map(Histories::describe)).isEmpty();
    long answered = reports.stream().mapToLong(HistoryRun.Report::answered).sum();
    assertThat(answered).isGreaterThan(COUNT * 50L);
  }
}
