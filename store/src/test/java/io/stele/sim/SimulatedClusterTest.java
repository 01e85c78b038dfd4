package io.stele.sim;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/**
 * Whole clusters under faults, from a seed each: {@code -Dstele.seed} is the first, {@code
 * -Dstele.histories} how many.
 */
class SimulatedClusterTest {
  private static final long FIRST = Long.getLong("stele.seed", 0);
  private static final int AGAIN =
      Math.min(20, Histories.COUNT); // Of these the hashes are compared.
  private static final int BATCH = 1000;
  private static final int ENOUGH = 200; // For a statement about what mostly happens.

  @Test
  void nothingIsLostDoubledStaleTornOrLeftOver() throws Exception {
    long calls = 0;
    long answered = 0;
    for (long first = FIRST; first < FIRST + Histories.COUNT; first += BATCH) {
      int count = (int) Math.min(BATCH, FIRST + Histories.COUNT - first);
      List<HistoryRun.Report> reports = Histories.run(first, count);
      for (HistoryRun.Report report : reports) {
        calls += report.calls();
        answered += report.answered();
      }
      Optional<HistoryRun.Report> failed =
          reports.stream().filter(report -> !report.isGood()).findFirst();
      assertThat(failed.map(Histories::describe)).isEmpty();
    }
    if (Histories.COUNT
        >= ENOUGH) { // Mostly the cluster works, or the checkers had little to look at.
      assertThat(answered).isGreaterThan(calls * 9 / 10).isGreaterThan(Histories.COUNT * 100L);
    }
  }

  @Test
  void theSameSeedGivesTheSameHistory() throws Exception {
    List<HistoryRun.Report> once = Histories.run(FIRST, AGAIN);
    List<HistoryRun.Report> again = Histories.run(FIRST, AGAIN);
    assertThat(again.stream().map(HistoryRun.Report::traceHash).toList())
        .as("trace hashes from seed %s on", FIRST)
        .isEqualTo(once.stream().map(HistoryRun.Report::traceHash).toList());
    assertThat(once.stream().map(HistoryRun.Report::traceHash).distinct()).hasSize(AGAIN);
  }
}
