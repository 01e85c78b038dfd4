package io.stele.yarn;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.yarn.HeldContainer.Phase;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Of {@link Planner}: when containers end that are too many. */
final class PlannerSurplusTest extends PlannerFixture {
  @Test
  void ofTwoRecoveredContainersInOneSlotTheRunningOneStays() {
    wanted.put(ComponentKind.TABLET_SERVER, 1);
    hold("c1", 1, "a", Phase.RUNNING);
    hold("c2", 1, "b", Phase.RUNNING);
    serving.add("c1");
    assertThat(planned()).containsExactly("drain c2");
  }

  @Test
  void ofTwoRunningContainersInOneSlotTheOneThatServesStays() {
    wanted.put(ComponentKind.TABLET_SERVER, 1);
    hold("c1", 1, "a", Phase.RUNNING, 3600);
    hold("c2", 1, "b", Phase.RUNNING, 3600);
    serving.add("c2");
    assertThat(planned()).as("the first has never started up").containsExactly("drain c1");
    serving.add("c1");
    withoutLock.put("c1", Duration.ofSeconds(15));
    assertThat(planned()).as("the first has lost its lock").containsExactly("drain c1");
    withoutLock.clear();
    draining.add("c1");
    assertThat(planned()).as("the first takes no tablets").containsExactly("drain c1");
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
    wanted.put(ComponentKind.TABLET_SERVER, 2);
    asks.add(ask(1, new Placement.Anywhere(), Set.of(), 1));
    hold("c2", 2, "a", Phase.RUNNING, 3600);
    hold("c3", 3, "b", Phase.RUNNING, 3600);
    serving.addAll(List.of("c2", "c3"));
    wantedSince.put(ComponentKind.TABLET_SERVER, NOW.minus(wait).plusMillis(1));
    assertThat(planned()).isEmpty();
    wantedSince.put(ComponentKind.TABLET_SERVER, NOW.minus(wait));
    assertThat(planned()).containsExactly("drain c3");
    containers.remove(1);
    hold("c3", 3, "b", Phase.RUNNING, wait.toSeconds() - 1);
    assertThat(planned()).as("it did not run yet when fewer were wanted").isEmpty();
    wantedSince.clear(); // By an earlier attempt.
    assertThat(planned()).isEmpty();
    containers.remove(1);
    hold("c3", 3, "b", Phase.RUNNING, wait.toSeconds());
    assertThat(planned()).containsExactly("drain c3");
  }

  @Test
  void theLastServerThatServesWaitsForAnotherHoweverLongThatTakes() {
    wanted.put(ComponentKind.TABLET_SERVER, 1);
    wantedSince.put(ComponentKind.TABLET_SERVER, NOW.minusSeconds(7200));
    asks.add(ask(1, new Placement.Anywhere(), Set.of(), 1));
    hold("c2", 2, "b", Phase.RUNNING, 7200);
    hold("c3", 3, "c", Phase.RUNNING, 7200);
    serving.addAll(List.of("c2", "c3"));
    assertThat(planned()).as("of two alike one stays").containsExactly("drain c3");
    preempted.add("c2");
    assertThat(planned()).as("YARN takes the other").containsExactly("drain c2");
    preempted.clear();
    withoutLock.put("c2", Duration.ofSeconds(15));
    assertThat(planned()).as("the other has lost its lock").containsExactly("drain c2");
    withoutLock.clear();
    wanted.put(ComponentKind.TABLET_SERVER, 0);
    asks.clear();
    assertThat(planned()).as("none is wanted").containsExactly("drain c3", "drain c2");
  }

  @Test
  void aServerThatAnOperatorDrainsIsNoneThatAnotherMayEndFor() {
    aMasterServes();
    wanted.put(ComponentKind.TABLET_SERVER, 1);
    wantedSince.put(ComponentKind.TABLET_SERVER, NOW.minusSeconds(7200));
    hold("c1", 1, "a", Phase.RUNNING, 7200);
    hold("c2", 2, "b", Phase.RUNNING, 7200);
    hold("c3", 3, "c", Phase.RUNNING, 7200);
    serving.addAll(List.of("c1", "c2", "c3"));
    draining.addAll(List.of("c1", "c3"));
    assertThat(planned()).as("only the second takes tablets").containsExactly("drain c3");
    containers.remove(2);
    hold("c3", 3, "c", Phase.DRAINING, 60);
    assertThat(planned()).as("of its tablets the second takes").containsExactly("stop c3");
    draining.add("c2");
    assertThat(planned()).as("nobody takes tablets").isEmpty();
    draining.clear();
    assertThat(planned()).containsExactly("drain c2", "stop c3");
  }

  @Test
  void aServerWhoseTimeToDrainIsOverIsStoppedOnlyIfAnotherServes() {
    aMasterServes();
    wanted.put(ComponentKind.TABLET_SERVER, 1);
    asks.add(ask(1, new Placement.Anywhere(), Set.of(), 1));
    hold("c2", 2, "b", Phase.DRAINING, 60);
    serving.add("c2");
    assertThat(planned()).as("it cannot give its tablets away").isEmpty();
    withoutLock.put("c2", Duration.ofSeconds(15));
    assertThat(planned()).as("it does not serve").containsExactly("stop c2");
    withoutLock.clear();
    preempted.add("c2");
    assertThat(planned()).as("YARN takes it away").containsExactly("stop c2");
    preempted.clear();
    stopping = true;
    assertThat(planned()).as("all is stopped").contains("stop c2");
    stopping = false;
    asks.clear();
    hold("c1", 1, "a", Phase.RUNNING);
    serving.add("c1");
    assertThat(planned()).containsExactly("stop c2");
  }

  @Test
  void aServerWhoseTimeToDrainIsOverGoesOnUntilWhatIsKnownOfOthersIsNewerThanItsDrain() {
    aMasterServes();
    wanted.put(ComponentKind.TABLET_SERVER, 1);
    hold("c1", 1, "a", Phase.RUNNING);
    hold("c2", 2, "b", Phase.DRAINING, 60);
    serving.addAll(List.of("c1", "c2"));
    notYetRead.add("c1");
    assertThat(planned()).as("the first may be drained").isEmpty();
    notYetRead.clear();
    notYetRead.add("m");
    assertThat(planned()).as("the master may be gone").isEmpty();
    notYetRead.clear();
    notYetLastAsked.add("c2");
    assertThat(planned()).as("it may yet end in order").isEmpty();
    notYetLastAsked.clear();
    withoutLock.put("m", Duration.ZERO);
    assertThat(planned()).as("nobody has its tablets served").isEmpty();
    withoutLock.clear();
    assertThat(planned()).containsExactly("stop c2");
  }

  @Test
  void aServerWhoseTimeToDrainIsOverGoesOnUntilWhatIsKnownOfOthersIsNewerThanTheEndOfItsTime() {
    aMasterServes();
    wanted.put(ComponentKind.TABLET_SERVER, 1);
    hold("c1", 1, "a", Phase.RUNNING);
    hold("c2", 2, "b", Phase.DRAINING, 70);
    serving.addAll(List.of("c1", "c2"));
    readAt.put("c1", NOW.minusSeconds(11));
    assertThat(planned()).as("the first may be drained since").isEmpty();
    readAt.put("c1", NOW.minusSeconds(10));
    assertThat(planned()).containsExactly("stop c2");
    readAt.put("m", NOW.minusSeconds(11));
    assertThat(planned()).as("the master may be gone since").isEmpty();
  }

  @Test
  void noServerEndsForOneOfWhichThisAttemptHasNotAskedYet() {
    wanted.put(ComponentKind.TABLET_SERVER, 1);
    hold("c1", 1, "a", Phase.RUNNING);
    hold("c2", 2, "b", Phase.RUNNING);
    serving.addAll(List.of("c1", "c2"));
    notYetRead.addAll(serving);
    assertThat(planned()).as("the first may be drained").isEmpty();
    notYetRead.clear();
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
    assertThat(planned()).as("the node may take any time").isEmpty();
    nodes.set(0, leavingSoon("a"));
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
    containers.clear();
    holdMaster("m2", 2, NOW.minus(wait));
    assertThat(planned()).as("there is no other").isEmpty();
  }
}
