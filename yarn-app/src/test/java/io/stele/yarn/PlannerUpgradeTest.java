package io.stele.yarn;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.yarn.HeldContainer.Phase;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Of {@link Planner}: in which order outdated masters are replaced. */
final class PlannerUpgradeTest extends PlannerFixture {
  @Test
  void mastersAreReplacedOneByOneOnceAllTabletServersAreUpgraded() {
    nodes("a", "b");
    wanted.put(ComponentKind.MASTER, 2);
    wanted.put(ComponentKind.TABLET_SERVER, 1);
    holdMaster("m1", 1);
    holdMaster("m2", 2);
    hold("s1", 1, "b", Phase.RUNNING);
    serving.addAll(List.of("m1", "m2", "s1"));
    outdated.addAll(List.of("m1", "m2", "s1"));
    assertThat(planned()).as("the tablet server is older").isEmpty();
    outdated.remove("s1");
    serving.remove("s1");
    assertThat(planned()).as("its successor does not serve yet").isEmpty();
    serving.add("s1");
    assertThat(planned()).containsExactly("stop m1");
    draining.add("s1");
    assertThat(planned()).as("it is up, though an operator drains it").containsExactly("stop m1");
    serving.remove("m1");
    assertThat(planned()).as("even if it has never served").containsExactly("stop m1");
    outdated.remove("m1");
    assertThat(planned()).as("its successor does not serve yet").isEmpty();
    serving.add("m1");
    assertThat(planned()).containsExactly("stop m2");
    containers.removeIf(held -> held.id().equals("m1"));
    holdMaster("m1", 1, NOW.minusSeconds(10));
    assertThat(planned()).as("the other serves, this one may still be starting").isEmpty();
  }

  @Test
  void mastersDoNotWaitForATabletServerForWhichThereIsNoRoom() {
    wanted.put(ComponentKind.MASTER, 1);
    holdMaster("m1", 1);
    hold("s1", 1, "b", Phase.RUNNING);
    asks.add(ask(2, new Placement.Anywhere(), Set.of(), 60));
    serving.addAll(List.of("m1", "s1"));
    outdated.add("m1");
    assertThat(planned()).as("it may come").isEmpty();
    withoutHeadroom.add(slot(2));
    assertThat(planned()).containsExactly("stop m1");
    history.put(slot(2), SlotHistory.NEW.failed(NOW, "b", "exit 1"));
    assertThat(planned()).as("its next try may succeed").isEmpty();
  }

  @Test
  void mastersDoNotWaitForAMasterForWhichThereHasNeverBeenRoom() {
    SlotId second = new SlotId(ComponentKind.MASTER, 2);
    wanted.put(ComponentKind.MASTER, 2);
    wanted.put(ComponentKind.TABLET_SERVER, 1);
    holdMaster("m1", 1);
    hold("s1", 1, "b", Phase.RUNNING);
    asks.add(new Ask(second, new Placement.Anywhere(), Set.of(), NOW, NOW));
    serving.addAll(List.of("m1", "s1"));
    outdated.add("m1");
    assertThat(planned()).isEmpty();
    withoutHeadroom.add(second);
    assertThat(planned()).containsExactly("stop m1");
    history.put(second, SlotHistory.NEW.startedOn("b"));
    assertThat(planned()).as("the only one's room might be lost, too").isEmpty();
    wanted.put(ComponentKind.MASTER, 3);
    holdMaster("m3", 3);
    serving.add("m3");
    assertThat(planned()).containsExactly("stop m1");
  }
}
