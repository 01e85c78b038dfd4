package io.stele.sim;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/**
 * Whole clusters in which nothing fails, while operators and jobs do what they may do at any time:
 * no process ends by itself, no tablet comes into quarantine, and every caller is told what became
 * of its call. {@code -Dstele.seed} is the first, {@code -Dstele.histories} how many, of which this
 * takes a twentieth.
 */
class NothingFailsTest {
  private static final long FIRST = Long.getLong("stele.seed", 0);
  private static final int COUNT = Math.max(1, Histories.COUNT / 20);

  @Test
  void noServerEndsNoTabletIsQuarantinedAndNoOutcomeIsUnknownWhereNothingFails() throws Exception {
    List<HistoryRun.Report> reports = Histories.runWithoutFailures(FIRST, COUNT);
    Optional<HistoryRun.Report> failed =
        reports.stream().filter(report -> !report.isGood()).findFirst();
    assertThat(failed.map(one -> Histories.describe(one, Histories.withOthers()))).isEmpty();
    long calls = reports.stream().mapToLong(HistoryRun.Report::calls).sum();
    long answered = reports.stream().mapToLong(HistoryRun.Report::answered).sum();
    assertThat(answered).isGreaterThan(calls * 99 / 100).isGreaterThan(COUNT * 100L);
  }
}
