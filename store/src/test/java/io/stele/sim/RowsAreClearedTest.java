package io.stele.sim;

import io.stele.sim.workload.Pace;
import io.stele.sim.workload.Registers;
import io.stele.sim.workload.Workload;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/**
 * Whole clusters under faults whose clients delete ranges of rows, or all, while others read and
 * write them: {@code -Dstele.seed} is the first, {@code -Dstele.histories} how many, of which this
 * takes a tenth.
 */
class RowsAreClearedTest {
  private static final long FIRST = Long.getLong("stele.seed", 0);
  private static final int COUNT = Math.max(1, Histories.COUNT / 10);
  static final Workload WORKLOAD =
      Registers.cleared("clears", 8, 10, new Pace(Duration.ofMillis(150)));

  @Test
  void eachRowIsClearedOnceAndNoLaterWriteGoesWhateverFails() throws Exception {
    Histories.requireGood(FIRST, COUNT, WORKLOAD, Focus.UNSETTLED);
  }
}
