package io.stele.master;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.metadata.Assignment;
import io.stele.metadata.TabletRecord;
import io.stele.model.Bytes;
import io.stele.model.RowRange;
import io.stele.model.ServerId;
import io.stele.model.TableId;
import io.stele.model.TabletId;
import io.stele.runtime.ManualClocks;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

class LoadTimesTest {
  private static final ServerId SERVER = new ServerId("a", 1, 1);
  private static final TableId TABLE = new TableId("t1");
  private static final TabletRecord TABLET = assigned("0000000000000001");
  private static final TabletRecord OTHER = assigned("0000000000000002");
  private static final Duration LITTLE = Duration.ofSeconds(10);

  private final ManualClocks clocks = new ManualClocks(0, Instant.EPOCH);
  private final LoadTimes loads = new LoadTimes(clocks);

  private static TabletRecord assigned(String name) {
    return TabletRecord.builder(new TabletId(TABLE, name), RowRange.ALL, Bytes.of(name))
        .assignment(new Assignment(Assignment.State.ASSIGNED, Optional.of(SERVER), 1))
        .build();
  }

  private void pass(Duration time, boolean canLoad, TabletRecord... open) {
    for (Duration left = time; left.compareTo(Duration.ZERO) > 0; left = left.minus(LITTLE)) {
      loads.update(List.of(open), Set.of(SERVER), record -> canLoad);
      clocks.pass(LITTLE);
    }
    loads.update(List.of(open), Set.of(SERVER), record -> canLoad);
  }

  @Test
  void timeInWhichATabletCannotBeLoadedDoesNotCount() {
    pass(LoadTimes.PATIENCE.multipliedBy(2), false, TABLET);
    assertThat(loads.overdue(TABLET)).isEmpty();
    pass(LoadTimes.PATIENCE.minus(LITTLE), true, TABLET);
    assertThat(loads.overdue(TABLET)).isEmpty();
    pass(LITTLE.multipliedBy(3), true, TABLET);
    assertThat(loads.overdue(TABLET)).isPresent();
  }

  @Test
  void aTabletWaitsLongerForAServerThatLoadsOthers() {
    pass(LoadTimes.PATIENCE, true, TABLET, OTHER);
    pass(LITTLE.multipliedBy(3), true, TABLET); // The other is loaded.
    assertThat(loads.overdue(TABLET)).isEmpty();
    pass(LoadTimes.PATIENCE, true, TABLET);
    assertThat(loads.overdue(TABLET)).as("it loads nothing any more").isPresent();
  }

  @Test
  void aServerThatLoadsAllOthersMayStillBeStuckWithOne() {
    Duration most = LoadTimes.PATIENCE.multipliedBy(LoadTimes.WHILE_OTHERS_LOAD);
    Duration each = LoadTimes.PATIENCE.dividedBy(2);
    Duration passed = Duration.ZERO;
    while (passed.compareTo(most) < 0) {
      assertThat(loads.overdue(TABLET)).as("after %s", passed).isEmpty();
      pass(each, true, TABLET, OTHER);
      pass(LITTLE, true, TABLET);
      passed = passed.plus(each).plus(LITTLE);
    }
    pass(LITTLE, true, TABLET);
    assertThat(loads.overdue(TABLET)).isPresent();
  }
}
