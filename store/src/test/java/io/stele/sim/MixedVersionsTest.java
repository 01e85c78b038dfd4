package io.stele.sim;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.model.Bytes;
import io.stele.model.TableSchema;
import io.stele.sim.workload.Pace;
import io.stele.sim.workload.TablesComeAndGo;
import io.stele.sim.workload.Workload;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/**
 * Whole clusters under faults in which servers and masters of this version and of the next work
 * side by side ({@link NextVersion}): {@code -Dstele.seed} is the first, {@code -Dstele.histories}
 * how many, of which this takes a twentieth.
 */
class MixedVersionsTest {
  private static final long FIRST = Long.getLong("stele.seed", 0);
  private static final int COUNT = Math.max(1, Histories.COUNT / 20);

  @Test
  @SuppressWarnings("try") // Planted while the block runs.
  void processesOfTwoVersionsLoseNothing() throws Exception {
    List<Workload> workloads = new ArrayList<>(Histories.WORKLOADS);
    workloads.add(new TablesComeAndGo("tables", 3, new Pace(Duration.ofMillis(300))));
    List<String> names = workloads.stream().map(Workload::name).toList();
    long written = NextVersion.WRITTEN.get();
    long read = NextVersion.READ.get();
    try (AutoCloseable planted = NextVersion.plant()) {
      Optional<HistoryRun.Report> failed =
          Histories.run(FIRST, COUNT, names, workloads).stream()
              .filter(report -> !report.isGood())
              .findFirst();
      assertThat(failed.map(one -> Histories.describe(one, workloads))).isEmpty();
    }
    assertThat(NextVersion.WRITTEN.get() - written)
        .as("written by the next version")
        .isGreaterThan(COUNT);
    assertThat(NextVersion.READ.get() - read).as("read by this version").isGreaterThan(COUNT);
  }

  /** In histories an operator compacts too seldom for this. */
  @Test
  @SuppressWarnings("try") // Planted while the block runs.
  void serversThatDoNotKnowTheRequestAreAskedToCompactInTheFormerWay() throws Exception {
    Duration length = Duration.ofSeconds(30);
    long before = NextVersion.UNKNOWN.get();
    try (AutoCloseable planted = NextVersion.plant()) {
      ClusterFixture.run(
          FIRST,
          3,
          ClusterFixture.settings(FIRST, length),
          fixture -> {
            TableSchema schema = TableSchema.of("t", "f");
            List<Bytes> splits = List.of(Bytes.of("b"), Bytes.of("c"), Bytes.of("d"));
            fixture.until(length, () -> fixture.client().admin().createTable(schema, splits));
            fixture.cluster().operator().splitAll(Duration.ofSeconds(1));
            fixture.process().sleep(length);
            assertThat(NextVersion.UNKNOWN.get()).as("requests not known").isGreaterThan(before);
            fixture.until(length, () -> fixture.client().admin().compactTable("t"));
          });
    }
  }
}
