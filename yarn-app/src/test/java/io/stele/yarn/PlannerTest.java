package io.stele.yarn;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.yarn.HeldContainer.Phase;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Of {@link Planner}: which containers are launched, checked, given back and ended. */
final class PlannerTest extends PlannerFixture {
  @Test
  void aContainerForAnEmptySlotIsLaunchedAndASecondOneGivenBack() {
    hold("c1", 1, "a", Phase.ALLOCATED);
    hold("c2", 1, "b", Phase.ALLOCATED);
    hold("c3", 2, "c", Phase.RUNNING);
    hold("c4", 2, "d", Phase.ALLOCATED);
    assertThat(planned()).containsExactly("launch c1", "release c2", "release c4");
  }

  @Test
  void aContainerForASlotThatIsNotWantedAnyMoreIsGivenBack() {
    wanted.put(ComponentKind.TABLET_SERVER, 1);
    hold("c1", 1, "a", Phase.RUNNING);
    hold("c2", 2, "b", Phase.ALLOCATED);
    asks.add(ask(3, new Placement.Anywhere(), Set.of(), 1));
    assertThat(planned()).containsExactly("release c2", "cancel tabletserver-3");
  }

  @Test
  void recoveredContainersAreCheckedAndTheirSlotsNotFilledAgain() {
    nodes("a", "b");
    hold("c1", 1, "a", Phase.RECOVERED);
    hold("c2", 2, "b", Phase.CHECKING);
    assertThat(planned()).containsExactly("check c1");
  }

  @Test
  void aDrainThatTakesTooLongIsStoppedAndAStopThatIsNotHeardReleased() {
    wanted.put(ComponentKind.TABLET_SERVER, 0);
    hold("c1", 1, "a", Phase.DRAINING, 59);
    hold("c2", 2, "b", Phase.DRAINING, 60);
    hold("c3", 3, "c", Phase.STOPPING, 29);
    hold("c4", 4, "d", Phase.STOPPING, 30);
    assertThat(planned()).containsExactly("stop c2", "release c4");
  }

  @Test
  void inAStopTheOperatorsTimeIsTheLimitOfDrainsAndEachHasFiveSeconds() {
    stopping = true;
    stopRanks = Optional.of(Map.of());
    stopBy = Optional.of(NOW.plusSeconds(1));
    hold("c1", 1, "a", Phase.DRAINING, 3600);
    assertThat(planned()).isEmpty();
    stopBy = Optional.of(NOW);
    hold("c2", 2, "b", Phase.DRAINING, 4);
    hold("c3", 3, "c", Phase.DRAINING, 5);
    assertThat(planned()).containsExactly("stop c1", "stop c3");
  }

  @Test
  void aServerThatDrainsAndHasLostItsLockIsNotWaitedForUntilTheTimeIsUp() {
    stopping = true;
    stopRanks = Optional.of(Map.of());
    stopBy = Optional.of(NOW.plusSeconds(3600));
    hold("c1", 1, "a", Phase.DRAINING, 100);
    serving.add("c1");
    withoutLock.put("c1", HeldContainer.LOST_LOCK_WAIT.minusSeconds(1));
    assertThat(planned()).isEmpty();
    withoutLock.put("c1", HeldContainer.LOST_LOCK_WAIT);
    assertThat(planned()).containsExactly("stop c1");
  }

  @Test
  void stoppingEndsMastersThenTabletServersWithMetadataLastThenItself() {
    wanted.put(ComponentKind.MASTER, 1);
    stopping = true;
    containers.add(
        new HeldContainer("m1", new SlotId(ComponentKind.MASTER, 1), "a", Phase.RUNNING, NOW));
    hold("c1", 1, "a", Phase.RUNNING);
    hold("c2", 2, "b", Phase.RUNNING);
    hold("c3", 3, "c", Phase.STARTING);
    asks.add(ask(4, new Placement.Anywhere(), Set.of(), 1));
    assertThat(planned()).containsExactly("stop m1", "cancel tabletserver-4");
    asks.clear();
    containers.remove(0);
    assertThat(planned()).containsExactly("rank servers");
    stopRanks = Optional.of(Map.of("c1", 1, "c2", 0));
    assertThat(planned()).containsExactly("drain c2");
    containers.removeIf(c -> !c.id().equals("c1"));
    assertThat(planned()).containsExactly("drain c1");
    containers.clear();
    assertThat(planned()).containsExactly("finish");
  }
}
