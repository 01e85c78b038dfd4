package io.stele.yarn;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.yarn.HeldContainer.Phase;
import java.time.Duration;
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
  void whatYarnTakesAwayIsNoFailure() {
    assertThat(new ContainerExit(-102, "preempted").itsOwnFault()).isFalse();
    assertThat(new ContainerExit(-100, "lost node").itsOwnFault()).isFalse();
    assertThat(new ContainerExit(137, "killed").itsOwnFault()).isTrue();
    SlotHistory past = SlotHistory.NEW.endedInOrder(NOW, "preempted");
    assertThat(past.recentFailureCount(NOW)).isZero();
    assertThat(past.restarts()).isEqualTo(1);
  }
}
