package io.stele.sim;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.sim.workload.JobWrites;
import io.stele.sim.workload.Pace;
import io.stele.sim.workload.Workload;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/**
 * Whole clusters under faults whose clients write files for a table and commit them: {@code
 * -Dstele.seed} is the first, {@code -Dstele.histories} how many, of which this takes a tenth.
 */
class JobWritesTest {
  private static final long FIRST = Long.getLong("stele.seed", 0);
  private static final int COUNT = Math.max(1, Integer.getInteger("stele.histories", 1000) / 10);
  static final List<Workload> WORKLOADS =
      List.of(new JobWrites("jobs", 24, 300, new Pace(Duration.ofMillis(150))));

  @Test
  void whatAJobWritesIsVisibleAllAtOnceAndOnceWhateverFails() throws Exception {
    List<HistoryRun.Report> reports = Histories.run(FIRST, COUNT, List.of("jobs"), WORKLOADS);
    Optional<HistoryRun.Report> failed =
        reports.stream().filter(report -> !report.isGood()).findFirst();
    assertThat(failed.map(one -> Histories.describe(one, WORKLOADS))).isEmpty();
    long calls = reports.stream().mapToLong(HistoryRun.Report::calls).sum();
    long answered = reports.stream().mapToLong(HistoryRun.Report::answered).sum();
    assertThat(answered).isGreaterThan(calls / 2);
  }
}
