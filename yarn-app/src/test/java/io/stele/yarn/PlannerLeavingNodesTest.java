package io.stele.yarn;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.yarn.HeldContainer.Phase;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Of {@link Planner}: what is done when YARN takes a node or a container away. */
final class PlannerLeavingNodesTest extends PlannerFixture {
  @Test
  void aTabletServerOnANodeThatLeavesIsReplacedFirstAndDrainedOnceTheOtherServes() {
    wanted.put(ComponentKind.TABLET_SERVER, 1);
    hold("c1", 1, "a", Phase.RUNNING);
    nodes.add(node("a", true, 4096, 0));
    drainBy.put("a", NOW.plusSeconds(1));
    assertThat(planned()).as("there is no other node").isEmpty();
    nodes("b");
    assertThat(planned()).containsExactly("ask tabletserver-1 on b");
    asks.add(ask(1, new Placement.OnNode("b"), Set.of(), 0));
    assertThat(planned()).isEmpty();
    asks.clear();
    hold("c2", 1, "b", Phase.ALLOCATED);
    assertThat(planned()).containsExactly("launch c2");
    containers.remove(1);
    hold("c2", 1, "b", Phase.RUNNING);
    assertThat(planned()).as("it does not serve yet").isEmpty();
    serving.add("c2");
    assertThat(planned()).containsExactly("drain c1");
    containers.remove(0);
    hold("c1", 1, "a", Phase.DRAINING);
    assertThat(planned()).isEmpty();
  }

  @Test
  void aTabletServerThatCannotBeReplacedIsDrainedInTimeAndGoesOnToBeAskedFor() {
    wanted.put(ComponentKind.TABLET_SERVER, 1);
    hold("c1", 1, "a", Phase.RUNNING);
    serving.add("c1");
    nodes.add(leavingSoon("a"));
    nodes.add(node("b", false, 4096, 0));
    asks.add(ask(1, new Placement.Anywhere(), Set.of(), 0));
    drainBy.put("a", NOW);
    assertThat(planned()).containsExactly("drain c1");
    containers.clear();
    hold("c1", 1, "a", Phase.DRAINING);
    assertThat(planned()).isEmpty();
    asks.clear();
    assertThat(planned()).containsExactly("ask tabletserver-1 on b");
  }

  @Test
  void theLastTabletServerOnANodeThatMayTakeAnyTimeWaitsUntilAnotherServes() {
    aMasterServes();
    wanted.put(ComponentKind.TABLET_SERVER, 2);
    hold("c1", 1, "a", Phase.RUNNING);
    hold("c2", 2, "b", Phase.RUNNING);
    serving.addAll(List.of("c1", "c2"));
    nodes.add(node("a", true, 4096, 0));
    nodes.add(node("b", true, 4096, 0));
    nodes.add(node("c", false, 4096, 0));
    asks.add(ask(1, new Placement.Anywhere(), Set.of(), 0));
    asks.add(ask(2, new Placement.Anywhere(), Set.of(), 0));
    drainBy.put("a", NOW);
    drainBy.put("b", NOW);
    assertThat(planned()).as("of two alike one stays").containsExactly("drain c2");
    containers.remove(1);
    hold("c2", 2, "b", Phase.DRAINING, 600);
    assertThat(planned()).as("the other drains").containsExactly("stop c2");
    containers.remove(1);
    assertThat(planned()).as("there is no other").isEmpty();
    hold("c3", 2, "c", Phase.RUNNING);
    asks.remove(1);
    assertThat(planned()).as("it does not serve yet").isEmpty();
    serving.add("c3");
    assertThat(planned()).containsExactly("drain c1");
  }

  @Test
  void aNodeThatStaysAfterAllKeepsItsTabletServer() {
    wanted.put(ComponentKind.TABLET_SERVER, 1);
    hold("c1", 1, "a", Phase.RUNNING);
    hold("c2", 1, "b", Phase.STARTING);
    nodes("a", "b");
    assertThat(planned()).isEmpty();
    containers.remove(1);
    hold("c2", 1, "b", Phase.RUNNING);
    serving.addAll(List.of("c1", "c2"));
    assertThat(planned()).containsExactly("drain c2");
  }

  @Test
  void aContainerThatYarnCallsBackIsDrainedAndOnlyThenAskedForAgain() {
    wanted.put(ComponentKind.TABLET_SERVER, 1);
    nodes("a", "b");
    hold("c1", 1, "a", Phase.RUNNING);
    preempted.add("c1");
    assertThat(planned()).containsExactly("drain c1");
    containers.clear();
    hold("c1", 1, "a", Phase.DRAINING);
    assertThat(planned()).isEmpty();
    containers.clear();
    assertThat(planned()).containsExactly("ask tabletserver-1 on a");
  }

  @Test
  void aMasterGoesOnUntilItsReplacementHasHadTimeToStart() {
    wanted.put(ComponentKind.MASTER, 1);
    wanted.put(ComponentKind.TABLET_SERVER, 0);
    SlotId slot = new SlotId(ComponentKind.MASTER, 1);
    nodes.add(node("a", true, 4096, 0));
    nodes("b");
    drainBy.put("a", NOW.plusSeconds(100));
    holdMaster("m1", 1);
    containers.add(new HeldContainer("m2", slot, "b", Phase.RUNNING, NOW));
    serving.addAll(List.of("m1", "m2")); // Some master has the lock: the old one, as yet.
    assertThat(planned()).isEmpty();
    containers.remove(1);
    containers.add(
        new HeldContainer(
            "m2", slot, "b", Phase.RUNNING, NOW.minus(ApplicationSnapshot.STANDBY_AFTER)));
    assertThat(planned()).containsExactly("stop m1");
  }

  @Test
  void aTabletServerGoesOnWhileItsReplacementHasLostItsLock() {
    wanted.put(ComponentKind.TABLET_SERVER, 1);
    nodes.add(node("a", true, 4096, 0));
    nodes("b");
    drainBy.put("a", NOW.plusSeconds(100));
    hold("c1", 1, "a", Phase.RUNNING);
    hold("c2", 1, "b", Phase.RUNNING);
    serving.addAll(List.of("c1", "c2"));
    withoutLock.put("c2", Duration.ofSeconds(15));
    assertThat(planned()).isEmpty();
    withoutLock.clear();
    assertThat(planned()).containsExactly("drain c1");
  }

  @Test
  void aNodesTimeToLeaveIsForTheReplacementFirstAndThenForTheDrain() {
    ApplicationSnapshot.Limits limits = limits();
    assertThat(limits.replacementWait(Optional.of(Duration.ofHours(1))))
        .isEqualTo(Duration.ofMinutes(59));
    assertThat(limits.replacementWait(Optional.of(Duration.ofSeconds(100))))
        .isEqualTo(Duration.ofSeconds(50));
    assertThat(limits.replacementWait(Optional.of(Duration.ZERO))).isEqualTo(Duration.ZERO);
    assertThat(limits.replacementWait(Optional.empty())).isEqualTo(Duration.ofMinutes(9));
  }
}
