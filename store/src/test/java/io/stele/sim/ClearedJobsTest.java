package io.stele.sim;

import io.stele.sim.workload.ClearedJobs;
import io.stele.sim.workload.Pace;
import io.stele.sim.workload.Workload;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/**
 * Whole clusters under faults whose clients commit jobs and delete all rows at the same time:
 * {@code -Dstele.seed} is the first, {@code -Dstele.histories} how many, of which this takes a
 * tenth.
 */
class ClearedJobsTest {
  private static final long FIRST = Long.getLong("stele.seed", 0);
  private static final int COUNT = Math.max(1, Histories.COUNT / 10);
  static final Workload WORKLOAD =
      new ClearedJobs("cleared-jobs", 24, new Pace(Duration.ofMillis(150)));

  @Test
  void allRowsOfAJobAreDeletedOrNoneWhateverFails() throws Exception {
    Histories.requireGood(FIRST, COUNT, WORKLOAD);
  }
}
