package io.stele.sim;

import io.stele.sim.workload.Pace;
import io.stele.sim.workload.RewritingJobs;
import io.stele.sim.workload.Workload;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/**
 * Whole clusters under faults whose clients rewrite a table by jobs that read it at a pin, while
 * others put: {@code -Dstele.seed} is the first, {@code -Dstele.histories} how many, of which this
 * takes a tenth.
 */
class RewritingJobsTest {
  private static final long FIRST = Long.getLong("stele.seed", 0);
  private static final int COUNT = Math.max(1, Histories.COUNT / 10);
  static final Workload WORKLOAD =
      new RewritingJobs("rewriting", 24, new Pace(Duration.ofMillis(150)));

  @Test
  void aJobReplacesWhatItHasReadAndNothingElseWhateverFails() throws Exception {
    Histories.requireGood(FIRST, COUNT, WORKLOAD);
  }
}
