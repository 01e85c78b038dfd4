package io.stele.yarn;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.yarn.HeldContainer.Phase;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** What is done in which state. {@link #planned()} tells it in one line an action. */
final class PlannerTest {
  private static final Instant NOW = Instant.parse("2026-01-01T00:00:00Z");

  private final Map<ComponentKind, Integer> wanted =
      new HashMap<>(Map.of(ComponentKind.MASTER, 0, ComponentKind.TABLET_SERVER, 2));
  private final Map<ComponentKind, Instant> wantedSince = new HashMap<>();
  private final List<HeldContainer> containers = new ArrayList<>();
  private final List<Ask> asks = new ArrayList<>();
  private final Set<SlotId> withoutHeadroom = new HashSet<>();
  private final Set<String> serving = new HashSet<>();
  private final Set<String> preempted = new HashSet<>();
  private final Set<String> outdated = new HashSet<>();
  private final Map<String, Duration> withoutLock = new HashMap<>();
  private final List<Node> nodes = new ArrayList<>();
  private final Map<String, Instant> drainBy = new HashMap<>();
  private final Map<SlotId, SlotHistory> history = new HashMap<>();
  private final Set<ComponentKind> proven = new HashSet<>();
  private boolean stopping;
  private Optional<Map<String, Integer>> stopRanks = Optional.empty();

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
  void anAskForAFilledSlotIsTakenBack() {
    wanted.put(ComponentKind.TABLET_SERVER, 1);
    hold("c1", 1, "a", Phase.STARTING);
    asks.add(ask(1, new Placement.Anywhere(), Set.of(), 1));
    assertThat(planned()).containsExactly("cancel tabletserver-1");
  }

  @Test
  void recoveredContainersAreCheckedAndTheirSlotsNotFilledAgain() {
    nodes("a", "b");
    hold("c1", 1, "a", Phase.RECOVERED);
    hold("c2", 2, "b", Phase.CHECKING);
    assertThat(planned()).containsExactly("check c1");
  }

  @Test
  void ofTwoRecoveredContainersInOneSlotTheRunningOneStays() {
    wanted.put(ComponentKind.TABLET_SERVER, 1);
    hold("c1", 1, "a", Phase.RUNNING);
    hold("c2", 1, "b", Phase.RUNNING);
    serving.add("c1");
    assertThat(planned()).containsExactly("drain c2");
  }

  @Test
  void fewerTabletServersMeansDrainingThoseWithTheHighestNumbers() {
    wanted.put(ComponentKind.TABLET_SERVER, 1);
    hold("c1", 1, "a", Phase.RUNNING);
    hold("c2", 2, "b", Phase.RUNNING);
    serving.add("c1");
    assertThat(planned()).containsExactly("drain c2");
  }

  @Test
  void aServerThatIsTooManyGoesOnUntilTheOneThatStaysServes() {
    wanted.put(ComponentKind.TABLET_SERVER, 1);
    wantedSince.put(ComponentKind.TABLET_SERVER, NOW);
    hold("c2", 2, "b", Phase.RUNNING, 3600);
    serving.add("c2");
    asks.add(ask(1, new Placement.Anywhere(), Set.of(), 3600));
    assertThat(planned()).as("the first has no container").isEmpty();
    asks.clear();
    hold("c1", 1, "a", Phase.RUNNING);
    assertThat(planned()).as("it does not serve yet").isEmpty();
    serving.add("c1");
    assertThat(planned()).containsExactly("drain c2");
    withoutLock.put("c1", Duration.ofSeconds(15));
    assertThat(planned()).as("it has lost its lock").isEmpty();
    withoutLock.clear();
    preempted.add("c1");
    assertThat(planned()).as("YARN takes it away").containsExactly("drain c1");
    wanted.put(ComponentKind.TABLET_SERVER, 0);
    assertThat(planned()).containsExactly("drain c1", "drain c2");
  }

  @Test
  void aServerThatIsTooManyDoesNotWaitForOthersForEver() {
    Duration wait = limits().replacementWait(Optional.empty());
    wanted.put(ComponentKind.TABLET_SERVER, 1);
    asks.add(ask(1, new Placement.Anywhere(), Set.of(), 1));
    hold("c2", 2, "b", Phase.RUNNING, 3600);
    serving.add("c2");
    wantedSince.put(ComponentKind.TABLET_SERVER, NOW.minus(wait).plusMillis(1));
    assertThat(planned()).isEmpty();
    wantedSince.put(ComponentKind.TABLET_SERVER, NOW.minus(wait));
    assertThat(planned()).containsExactly("drain c2");
    containers.clear();
    hold("c2", 2, "b", Phase.RUNNING, wait.toSeconds() - 1);
    assertThat(planned()).as("it did not run yet when fewer were wanted").isEmpty();
    wantedSince.clear(); // By an earlier attempt.
    assertThat(planned()).isEmpty();
    containers.clear();
    hold("c2", 2, "b", Phase.RUNNING, wait.toSeconds());
    assertThat(planned()).containsExactly("drain c2");
  }

  @Test
  void ofSeveralServersThatAreTooManyAsManyGoOnAsAreMissing() {
    wanted.put(ComponentKind.TABLET_SERVER, 1);
    asks.add(ask(1, new Placement.Anywhere(), Set.of(), 1));
    hold("c3", 3, "c", Phase.RUNNING);
    hold("c4", 4, "d", Phase.RUNNING);
    hold("c2", 2, "b", Phase.RUNNING);
    serving.addAll(List.of("c2", "c3", "c4"));
    assertThat(planned()).containsExactly("drain c4", "drain c3");
    containers.removeIf(held -> !held.id().equals("c2"));
    hold("c3", 3, "c", Phase.DRAINING);
    hold("c4", 4, "d", Phase.DRAINING);
    assertThat(planned()).isEmpty();
  }

  @Test
  void aSurplusServerOnALeavingNodeEndsInTimeAndAPreemptedOneAtOnce() {
    wanted.put(ComponentKind.TABLET_SERVER, 1);
    asks.add(ask(1, new Placement.Anywhere(), Set.of(), 1));
    hold("c2", 2, "a", Phase.RUNNING);
    serving.add("c2");
    nodes.add(node("a", true, 4096, 0));
    nodes("b");
    drainBy.put("a", NOW.plusSeconds(1));
    assertThat(planned()).isEmpty();
    drainBy.put("a", NOW);
    assertThat(planned()).containsExactly("drain c2");
    drainBy.put("a", NOW.plusSeconds(1));
    preempted.add("c2");
    assertThat(planned()).containsExactly("drain c2");
  }

  @Test
  void aMasterThatIsTooManyGoesOnUntilTheOneThatStaysCanBeElected() {
    wanted.put(ComponentKind.MASTER, 1);
    wanted.put(ComponentKind.TABLET_SERVER, 0);
    wantedSince.put(ComponentKind.MASTER, NOW);
    holdMaster("m2", 2);
    serving.add("m2");
    assertThat(planned()).containsExactly("ask master-1 anywhere");
    holdMaster("m1", 1, NOW.minusSeconds(10));
    assertThat(planned()).as("it does not serve yet").isEmpty();
    serving.add("m1");
    assertThat(planned()).as("it may still be starting").isEmpty();
    containers.removeIf(held -> held.id().equals("m1"));
    holdMaster("m1", 1);
    assertThat(planned()).containsExactly("stop m2");
    containers.removeIf(held -> held.id().equals("m1"));
    asks.add(
        new Ask(new SlotId(ComponentKind.MASTER, 1), new Placement.Anywhere(), Set.of(), NOW, NOW));
    assertThat(planned()).isEmpty();
    Duration wait = limits().replacementWait(Optional.empty());
    wantedSince.put(ComponentKind.MASTER, NOW.minus(wait));
    assertThat(planned()).as("it has not run for that long").isEmpty();
    containers.clear();
    holdMaster("m2", 2, NOW.minus(wait));
    assertThat(planned()).containsExactly("stop m2");
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
    nodes.add(node("a", true, 4096, 0));
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
  void aNodesTimeToLeaveIsForTheReplacementFirstAndThenForTheDrain() {
    ApplicationSnapshot.Limits limits = limits();
    assertThat(limits.replacementWait(Optional.of(Duration.ofHours(1))))
        .isEqualTo(Duration.ofMinutes(59));
    assertThat(limits.replacementWait(Optional.of(Duration.ofSeconds(100))))
        .isEqualTo(Duration.ofSeconds(50));
    assertThat(limits.replacementWait(Optional.of(Duration.ZERO))).isEqualTo(Duration.ZERO);
    assertThat(limits.replacementWait(Optional.empty())).isEqualTo(Duration.ofMinutes(9));
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

  @Test
  void afterFailuresASlotWaitsTwiceAsLongEachTime() {
    wanted.put(ComponentKind.TABLET_SERVER, 1);
    proven.add(ComponentKind.TABLET_SERVER);
    SlotHistory past = SlotHistory.NEW;
    List<Long> waits = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      past = past.failed(NOW, "a", Duration.ofSeconds(1), "exit 1");
      waits.add(Duration.between(NOW, past.notBefore()).toSeconds());
    }
    assertThat(waits).containsExactly(0L, 1L, 2L, 4L, 8L, 16L, 32L, 60L, 60L, 60L);
    history.put(slot(1), past);
    assertThat(planned()).isEmpty();
    history.put(slot(1), past.failed(NOW, "a", Duration.ofMinutes(2), "exit 1"));
    assertThat(planned()).containsExactly("ask tabletserver-1 anywhere");
  }

  @Test
  void aNodeOnWhichAProcessFailedTwiceIsNotAskedFor() {
    wanted.put(ComponentKind.TABLET_SERVER, 1);
    proven.add(ComponentKind.TABLET_SERVER);
    nodes("a", "b");
    SlotHistory once =
        SlotHistory.NEW.startedOn("a").failed(NOW.minusSeconds(90), "a", Duration.ZERO, "exit 1");
    history.put(slot(1), once);
    assertThat(planned()).containsExactly("ask tabletserver-1 on a");
    history.put(slot(1), once.failed(NOW.minusSeconds(80), "a", Duration.ZERO, "exit 1"));
    assertThat(planned()).containsExactly("ask tabletserver-1 on b");
  }

  @Test
  void anApplicationThatNeverRanGivesUpAndOneThatDidGoesOn() {
    wanted.put(ComponentKind.TABLET_SERVER, 1);
    SlotHistory past = SlotHistory.NEW;
    for (int i = 0; i < 5; i++) {
      past = past.failed(NOW.minusSeconds(100), "a", Duration.ZERO, "exit 1: bad key");
    }
    history.put(slot(1), past);
    assertThat(planned())
        .containsExactly(
            "give up: tabletserver-1 ended 5 times and no tabletserver has kept running; the last"
                + " one: exit 1: bad key");
    proven.add(ComponentKind.TABLET_SERVER);
    assertThat(planned()).containsExactly("ask tabletserver-1 anywhere");
  }

  @Test
  void anApplicationGoesOnWhileSomeTabletServerServes() {
    SlotHistory past = SlotHistory.NEW;
    for (int i = 0; i < 5; i++) {
      past = past.failed(NOW.minusSeconds(100), "a", Duration.ZERO, "exit 1: bad disk");
    }
    history.put(slot(1), past);
    hold("c2", 2, "b", Phase.RUNNING);
    assertThat(planned()).hasSize(1).allMatch(action -> action.startsWith("give up"));
    serving.add("c2");
    assertThat(planned()).containsExactly("ask tabletserver-1 anywhere");
  }

  @Test
  void aServerThatLostItsLockAndDoesNotEndIsStopped() {
    hold("c1", 1, "a", Phase.RUNNING);
    hold("c2", 2, "b", Phase.RUNNING);
    serving.add("c1");
    withoutLock.put("c1", Duration.ofSeconds(59));
    withoutLock.put("c2", Duration.ofHours(1)); // It may wait for HDFS.
    assertThat(planned()).isEmpty();
    withoutLock.put("c1", Duration.ofSeconds(60));
    assertThat(planned()).containsExactly("stop c1");
  }

  @Test
  void mastersThatLeaveTheirLockFreeAreStoppedOnceTheyHaveHadTimeToStart() {
    wanted.put(ComponentKind.MASTER, 2);
    wanted.put(ComponentKind.TABLET_SERVER, 0);
    holdMaster("m1", 1, NOW.minus(HeldContainer.MASTER_START_WAIT));
    holdMaster("m2", 2, NOW.minus(HeldContainer.MASTER_START_WAIT).plusSeconds(1));
    serving.addAll(List.of("m1", "m2"));
    withoutLock.put("m1", Duration.ofSeconds(59));
    withoutLock.put("m2", Duration.ofSeconds(59));
    assertThat(planned()).isEmpty();
    withoutLock.put("m1", Duration.ofSeconds(60));
    withoutLock.put("m2", Duration.ofSeconds(60));
    assertThat(planned()).as("the other may be starting").containsExactly("stop m1");
    serving.clear();
    outdated.addAll(List.of("m1", "m2"));
    withoutLock.put("m1", Duration.ofHours(1));
    assertThat(planned()).as("it has never served, and is upgraded in its turn").isEmpty();
  }

  @Test
  void anOutdatedServerThatDoesNotComeUpIsStopped() {
    hold("c1", 1, "a", Phase.RUNNING);
    hold("c2", 2, "b", Phase.RUNNING);
    serving.add("c2");
    outdated.addAll(List.of("c1", "c2"));
    withoutLock.put("c1", Duration.ofSeconds(29));
    assertThat(planned()).isEmpty();
    withoutLock.put("c1", Duration.ofSeconds(30));
    assertThat(planned()).containsExactly("stop c1");
  }

  @Test
  void whatYarnTakesAwayIsNoFailure() {
    assertThat(new ContainerExit(-102, "preempted").itsOwnFault()).isFalse();
    assertThat(new ContainerExit(-100, "lost node").itsOwnFault()).isFalse();
    assertThat(new ContainerExit(137, "killed").itsOwnFault()).isTrue();
    SlotHistory past = SlotHistory.NEW.endedInOrder(NOW, "preempted");
    assertThat(past.recentFailureCount(NOW)).isZero();
    assertThat(past.restarts()).isEqualTo(1);
  }

  @Test
  void aSlotIsFoundAgainByWhatYarnKeeps() {
    for (SlotId slot :
        List.of(new SlotId(ComponentKind.MASTER, 1), slot(1), slot(42), slot(999_999))) {
      assertThat(SlotId.of(slot.allocationRequestId())).contains(slot);
      assertThat(SlotId.parse(slot.toString())).isEqualTo(slot);
    }
    assertThat(SlotId.of(0)).isEmpty();
    assertThat(SlotId.of(-1)).isEmpty();
    assertThat(SlotId.of(7_000_001)).isEmpty();
  }

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
    history.put(slot(2), SlotHistory.NEW.failed(NOW, "b", Duration.ZERO, "exit 1"));
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

  private void holdMaster(String id, int index) {
    holdMaster(id, index, NOW.minus(Planner.STANDBY_AFTER));
  }

  private void holdMaster(String id, int index, Instant since) {
    containers.add(
        new HeldContainer(id, new SlotId(ComponentKind.MASTER, index), "a", Phase.RUNNING, since));
  }

  private static ApplicationSnapshot.Limits limits() {
    return new ApplicationSnapshot.Limits(
        Duration.ofSeconds(5),
        Duration.ofSeconds(60),
        5,
        Duration.ofMinutes(5),
        Duration.ofMinutes(10),
        Map.of(
            ComponentKind.MASTER,
            new ApplicationSnapshot.Size(256, 1),
            ComponentKind.TABLET_SERVER,
            new ApplicationSnapshot.Size(1024, 2)));
  }

  private List<String> planned() {
    ApplicationSnapshot snapshot =
        new ApplicationSnapshot(
            NOW,
            wanted,
            wantedSince,
            stopping,
            containers,
            serving,
            preempted,
            outdated,
            withoutLock,
            asks,
            withoutHeadroom,
            nodes,
            drainBy,
            history,
            proven,
            stopRanks,
            limits());
    return Planner.plan(snapshot).stream().map(PlannerTest::tell).collect(Collectors.toList());
  }

  private static String tell(Action action) {
    if (action instanceof Action.Request request) {
      Ask ask = request.ask();
      return "ask "
          + ask.slot()
          + (ask.placement() instanceof Placement.OnNode on ? " on " + on.node() : " anywhere");
    } else if (action instanceof Action.Cancel cancel) {
      return "cancel " + cancel.ask().slot();
    } else if (action instanceof Action.Launch launch) {
      return "launch " + launch.container().id();
    } else if (action instanceof Action.Check check) {
      return "check " + check.container().id();
    } else if (action instanceof Action.Drain drain) {
      return "drain " + drain.container().id();
    } else if (action instanceof Action.Stop stop) {
      return "stop " + stop.container().id();
    } else if (action instanceof Action.Release release) {
      return "release " + release.container().id();
    } else if (action instanceof Action.GiveUp giveUp) {
      return "give up: " + giveUp.reason();
    } else if (action instanceof Action.RankServers) {
      return "rank servers";
    }
    return "finish";
  }

  private void nodes(String... names) {
    for (String name : names) {
      nodes.add(node(name, false, 4096, 4096));
    }
  }

  private void hold(String id, int index, String node, Phase phase) {
    hold(id, index, node, phase, 0);
  }

  private void hold(String id, int index, String node, Phase phase, long secondsAgo) {
    containers.add(new HeldContainer(id, slot(index), node, phase, NOW.minusSeconds(secondsAgo)));
  }

  private static Ask ask(int index, Placement placement, Set<String> tried, long secondsAgo) {
    Instant made = NOW.minusSeconds(secondsAgo);
    return new Ask(slot(index), placement, tried, made, made);
  }

  private static Node node(String name, boolean leaving, long memoryMb, long freeMemoryMb) {
    return new Node(name, leaving, Optional.empty(), memoryMb, 8, freeMemoryMb);
  }

  private static SlotId slot(int index) {
    return new SlotId(ComponentKind.TABLET_SERVER, index);
  }
}
