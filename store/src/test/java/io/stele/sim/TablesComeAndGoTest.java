package io.stele.sim;

import io.stele.sim.workload.Pace;
import io.stele.sim.workload.TablesComeAndGo;
import io.stele.sim.workload.Workload;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/**
 * Whole clusters under faults whose clients create, alter, read and drop tables: {@code
 * -Dstele.seed} is the first, {@code -Dstele.histories} how many, of which this takes a tenth.
 */
class TablesComeAndGoTest {
  private static final long FIRST = Long.getLong("stele.seed", 0);
  private static final int COUNT = Math.max(1, Histories.COUNT / 10);
  private static final int NAMES = 3;
  static final Workload WORKLOAD =
      new TablesComeAndGo("tables", NAMES, new Pace(Duration.ofMillis(300)));

  @Test
  void eachNameIsThatOfAWholeTableOrOfNoneAndNothingIsLeftOver() throws Exception {
    Histories.requireGood(FIRST, COUNT, WORKLOAD);
  }
}
