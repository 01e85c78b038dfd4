package io.stele.sim;

import io.stele.sim.workload.FamiliesComeAndGo;
import io.stele.sim.workload.Pace;
import io.stele.sim.workload.Workload;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/**
 * Whole clusters under faults whose clients drop a family and add one of the same name, while
 * others read and write it: {@code -Dstele.seed} is the first, {@code -Dstele.histories} how many,
 * of which this takes a tenth.
 */
class FamiliesComeAndGoTest {
  private static final long FIRST = Long.getLong("stele.seed", 0);
  private static final int COUNT = Math.max(1, Histories.COUNT / 10);
  static final Workload WORKLOAD =
      new FamiliesComeAndGo("families", 6, 12, new Pace(Duration.ofMillis(150)));

  @Test
  void aFamilyUnderANameOfADroppedOneIsEmptyWhateverFails() throws Exception {
    Histories.requireGood(FIRST, COUNT, WORKLOAD, Focus.UNSETTLED);
  }
}
