package io.stele.sim;

import io.stele.sim.workload.Pace;
import io.stele.sim.workload.PinnedCommits;
import io.stele.sim.workload.Workload;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/**
 * Whole clusters under faults whose clients commit jobs and pin the table at the same time: {@code
 * -Dstele.seed} is the first, {@code -Dstele.histories} how many, of which this takes a tenth.
 */
class PinnedCommitsTest {
  private static final long FIRST = Long.getLong("stele.seed", 0);
  private static final int COUNT = Math.max(1, Histories.COUNT / 10);
  static final Workload WORKLOAD =
      new PinnedCommits("pinned-commits", 24, new Pace(Duration.ofMillis(150)));

  @Test
  void whoHasPinnedATableSeesAllOfAJobOrNothingWhateverFails() throws Exception {
    Histories.requireGood(FIRST, COUNT, WORKLOAD);
  }
}
