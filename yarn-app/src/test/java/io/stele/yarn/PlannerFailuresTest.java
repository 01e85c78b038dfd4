package io.stele.yarn;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.yarn.HeldContainer.Phase;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Of {@link Planner}: what is done about processes that end again and again. */
final class PlannerFailuresTest extends PlannerFixture {
  @Test
  void afterFailuresASlotWaitsTwiceAsLongEachTime() {
    wanted.put(ComponentKind.TABLET_SERVER, 1);
    proven.add(ComponentKind.TABLET_SERVER);
    SlotHistory past = SlotHistory.NEW;
    Instant lastTime = NOW.minusSeconds(10);
    List<Long> waits = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      Instant time = lastTime.minus(SlotHistory.WINDOW.multipliedBy(9 - i)); // However far apart.
      past = past.failed(time, "a", "exit 1");
      waits.add(Duration.between(time, past.notBefore()).toSeconds());
    }
    assertThat(waits).containsExactly(0L, 1L, 2L, 4L, 8L, 16L, 32L, 60L, 60L, 60L);
    history.put(slot(1), past);
    assertThat(planned()).isEmpty();
    history.put(slot(1), past.healthy(NOW.minusSeconds(1)).failed(NOW, "a", "exit 1"));
    assertThat(planned()).containsExactly("ask tabletserver-1 anywhere");
  }

  @Test
  void aNodeOnWhichAProcessFailedTwiceIsNotAskedFor() {
    wanted.put(ComponentKind.TABLET_SERVER, 1);
    proven.add(ComponentKind.TABLET_SERVER);
    nodes("a", "b");
    SlotHistory once = SlotHistory.NEW.startedOn("a").failed(NOW.minusSeconds(90), "a", "exit 1");
    history.put(slot(1), once);
    assertThat(planned()).containsExactly("ask tabletserver-1 on a");
    history.put(slot(1), once.failed(NOW.minusSeconds(80), "a", "exit 1"));
    assertThat(planned()).containsExactly("ask tabletserver-1 on b");
  }

  @Test
  void aNodeOnWhichAProcessKeepsFailingAfterItWasWellIsNotAskedFor() {
    SlotHistory past = SlotHistory.NEW.startedOn("a").failed(NOW.minusSeconds(400), "a", "exit 1");
    past = past.healthy(NOW.minusSeconds(300)).failed(NOW.minusSeconds(200), "a", "exit 1");
    assertThat(past.nodesToAvoid(NOW)).containsExactly("a");
    assertThat(past.recentFailureCount(NOW)).isEqualTo(2);
    assertThat(past.notBefore()).as("it was well").isEqualTo(NOW.minusSeconds(200));
    assertThat(past.nodesToAvoid(NOW.plusSeconds(201))).as("some time later").isEmpty();
  }

  @Test
  void aNodeIsNotAskedForAgainHoweverSlowlyAProcessFailedThereUntilItIsWellElsewhere() {
    SlotHistory past = SlotHistory.NEW.failed(NOW.minusSeconds(3000), "a", "hung");
    past = past.failed(NOW.minusSeconds(2000), "a", "hung");
    assertThat(past.nodesToAvoid(NOW)).containsExactly("a");
    assertThat(past.healthy(NOW).nodesToAvoid(NOW)).isEmpty();
    assertThat(past.endedInOrder(NOW, "preempted").nodesToAvoid(NOW)).containsExactly("a");
  }

  @Test
  void aLaterAttemptKnowsHowASlotHasFailed() {
    SlotHistory past = SlotHistory.NEW.startedOn("a");
    for (int i = 5; i > 0; i--) {
      past = past.failed(NOW.minusSeconds(i), "a", "exit 1\nand its last words");
    }
    SlotHistory later = SlotHistory.of(past.toProto(slot(1)), SavedTimes.ofAnother(NOW));
    assertThat(later.recentFailureCount(NOW)).isEqualTo(5);
    assertThat(later.notBefore()).isEqualTo(NOW.plusSeconds(7));
    assertThat(later.nodesToAvoid(NOW)).containsExactly("a");
    assertThat(later.lastExit()).isEqualTo("exit 1");
    assertThat(later.restarts()).isEqualTo(5);
    Instant behind = NOW.minusSeconds(3600); // The clock of its machine.
    assertThat(SlotHistory.of(past.toProto(slot(1)), SavedTimes.ofAnother(behind)).notBefore())
        .isEqualTo(behind.plusSeconds(60));
  }

  @Test
  void anApplicationThatNeverRanGivesUpAndOneThatDidGoesOn() {
    wanted.put(ComponentKind.TABLET_SERVER, 1);
    SlotHistory past = SlotHistory.NEW;
    for (int i = 0; i < 5; i++) {
      past = past.failed(NOW.minusSeconds(100), "a", "exit 1: bad key");
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
      past = past.failed(NOW.minusSeconds(100), "a", "exit 1: bad disk");
    }
    history.put(slot(1), past);
    hold("c2", 2, "b", Phase.RUNNING);
    assertThat(planned()).hasSize(1).allMatch(action -> action.startsWith("give up"));
    serving.add("c2");
    assertThat(planned()).containsExactly("ask tabletserver-1 anywhere");
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
}
