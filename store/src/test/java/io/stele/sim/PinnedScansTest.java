package io.stele.sim;

import io.stele.sim.workload.Pace;
import io.stele.sim.workload.PinnedScans;
import io.stele.sim.workload.Workload;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/**
 * Whole clusters under faults whose clients pin a table and read it several times: {@code
 * -Dstele.seed} is the first, {@code -Dstele.histories} how many, of which this takes a tenth.
 */
class PinnedScansTest {
  private static final long FIRST = Long.getLong("stele.seed", 0);
  private static final int COUNT = Math.max(1, Histories.COUNT / 10);
  private static final PinnedScans.How HOW =
      PinnedScans.How.valueOf(System.getProperty("stele.pinned", "BOTH"));
  static final Workload WORKLOAD =
      new PinnedScans("pins", 40, 300, HOW, new Pace(Duration.ofMillis(150)));

  @Test
  void everyReadOfAJobSeesWhatItPinnedWhateverIsWrittenAndWhateverFails() throws Exception {
    Histories.requireGood(FIRST, COUNT, WORKLOAD);
  }
}
