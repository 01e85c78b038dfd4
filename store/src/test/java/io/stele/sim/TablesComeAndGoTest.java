package io.stele.sim;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.sim.workload.Pace;
import io.stele.sim.workload.TablesComeAndGo;
import io.stele.sim.workload.Workload;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/**
 * Whole clusters under faults whose clients create, alter, read and drop tables: {@code
 * -Dstele.seed} is the first, {@code -Dstele.histories} how many, of which this takes a tenth.
 */
class TablesComeAndGoTest {
  private static final long FIRST = Long.getLong("stele.seed", 0);
  private static final int COUNT = Math.max(1, Integer.getInteger("stele.histories", 1000) / 10);
  private static final int NAMES = 3;
  private static final List<Workload> WORKLOADS =
      List.of(new TablesComeAndGo("tables", NAMES, new Pace(Duration.ofMillis(300))));

  @Test
  void eachNameIsThatOfAWholeTableOrOfNoneAndNothingIsLeftOver() throws Exception {
    List<HistoryRun.Report> reports = Histories.run(FIRST, COUNT, List.of("tables"), WORKLOADS);
    Optional<HistoryRun.Report> failed =
        reports.stream().filter(report -> !report.isGood()).findFirst();
    assertThat(failed.map(one -> Histories.describe(one, WORKLOADS))).isEmpty();
    long calls = reports.stream().mapToLong(HistoryRun.Report::calls).sum();
    long answered = reports.stream().mapToLong(HistoryRun.Report::answered).sum();
    assertThat(answered).isGreaterThan(calls / 2);
  }
}
