package io.stele.yarn;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.yarn.HeldContainer.Phase;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Of {@link Planner}: which nodes containers are asked for on. */
final class PlannerAsksTest extends PlannerFixture {
  @Test
  void firstTabletServersAreAskedForOnDifferentNodes() {
    nodes("a", "b", "c");
    assertThat(planned()).containsExactly("ask tabletserver-1 on a", "ask tabletserver-2 on b");
  }

  @Test
  void theMasterGoesToANodeAndTheTabletServersFirstToTheOthers() {
    wanted.put(ComponentKind.MASTER, 1);
    nodes("a", "b");
    assertThat(planned())
        .containsExactly("ask master-1 on a", "ask tabletserver-1 on b", "ask tabletserver-2 on a");
  }

  @Test
  void aNodeWithoutRoomAtTheMomentIsTheLastChoiceAndOneThatIsTooSmallIsNone() {
    wanted.put(ComponentKind.TABLET_SERVER, 3);
    nodes.add(node("full", false, 4096, 10));
    nodes.add(node("small", false, 100, 100));
    nodes.add(new Node("slow", false, Optional.empty(), 4096, 1, 4096));
    nodes.add(node("roomy", false, 4096, 4096));
    assertThat(planned())
        .containsExactly(
            "ask tabletserver-1 on roomy",
            "ask tabletserver-2 on full",
            "ask tabletserver-3 anywhere");
  }

  @Test
  void moreTabletServersThanNodesTakeAnyNode() {
    wanted.put(ComponentKind.TABLET_SERVER, 3);
    nodes("a", "b");
    assertThat(planned()).contains("ask tabletserver-3 anywhere");
  }

  @Test
  void unknownNodesMeanAnyNode() {
    assertThat(planned())
        .containsExactly("ask tabletserver-1 anywhere", "ask tabletserver-2 anywhere");
  }

  @Test
  void aTabletServerGoesBackToTheNodeItHadEvenWhenAnotherSlotComesFirst() {
    nodes("a", "b", "c");
    history.put(slot(2), SlotHistory.NEW.startedOn("a"));
    assertThat(planned()).containsExactly("ask tabletserver-2 on a", "ask tabletserver-1 on b");
  }

  @Test
  void itsFormerNodeIsAskedForThoughItLooksFull() {
    wanted.put(ComponentKind.TABLET_SERVER, 1);
    nodes.add(node("a", false, 4096, 0));
    nodes.add(node("b", false, 4096, 4096));
    history.put(slot(1), SlotHistory.NEW.startedOn("a"));
    assertThat(planned()).containsExactly("ask tabletserver-1 on a");
  }

  @Test
  void itsFormerNodeIsNotAskedForWhenItIsGoneOrLeavesOrHasAnother() {
    wanted.put(ComponentKind.TABLET_SERVER, 1);
    nodes("b");
    nodes.add(node("leaving", true, 4096, 4096));
    history.put(slot(1), SlotHistory.NEW.startedOn("gone"));
    assertThat(planned()).containsExactly("ask tabletserver-1 on b");
    history.put(slot(1), SlotHistory.NEW.startedOn("leaving"));
    assertThat(planned()).containsExactly("ask tabletserver-1 on b");
  }

  @Test
  void anAskWaitsForItsNodeThenGoesToTheNextAndInTheEndAnywhere() {
    wanted.put(ComponentKind.TABLET_SERVER, 1);
    nodes("a", "b", "c", "d");
    asks.add(ask(1, new Placement.OnNode("a"), Set.of(), 4));
    assertThat(planned()).isEmpty();
    asks.set(0, ask(1, new Placement.OnNode("a"), Set.of(), 5));
    assertThat(planned()).containsExactly("cancel tabletserver-1", "ask tabletserver-1 on b");
    asks.set(0, ask(1, new Placement.OnNode("b"), Set.of("a"), 5));
    assertThat(planned()).containsExactly("cancel tabletserver-1", "ask tabletserver-1 on c");
    asks.set(0, ask(1, new Placement.OnNode("c"), Set.of("a", "b"), 5));
    assertThat(planned()).containsExactly("cancel tabletserver-1", "ask tabletserver-1 anywhere");
    asks.set(0, ask(1, new Placement.Anywhere(), Set.of("a", "b", "c"), 500));
    assertThat(planned()).isEmpty();
  }

  @Test
  void anAskForANodeThatDiedMovesOnAtOnce() {
    wanted.put(ComponentKind.TABLET_SERVER, 1);
    nodes("b");
    asks.add(ask(1, new Placement.OnNode("a"), Set.of(), 0));
    assertThat(planned()).containsExactly("cancel tabletserver-1", "ask tabletserver-1 on b");
  }

  @Test
  void anEscalatedAskLeavesItsNodeToOthers() {
    nodes("a", "b", "c");
    asks.add(ask(1, new Placement.OnNode("a"), Set.of(), 5));
    history.put(slot(2), SlotHistory.NEW.startedOn("a"));
    assertThat(planned())
        .containsExactly(
            "cancel tabletserver-1", "ask tabletserver-1 on b", "ask tabletserver-2 on a");
  }

  @Test
  void anAskForAFilledSlotIsTakenBack() {
    wanted.put(ComponentKind.TABLET_SERVER, 1);
    hold("c1", 1, "a", Phase.STARTING);
    asks.add(ask(1, new Placement.Anywhere(), Set.of(), 1));
    assertThat(planned()).containsExactly("cancel tabletserver-1");
  }
}
