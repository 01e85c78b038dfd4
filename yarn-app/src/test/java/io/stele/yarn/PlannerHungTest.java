package io.stele.yarn;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.yarn.HeldContainer.Phase;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Of {@link Planner}: what is done about processes that hang. */
final class PlannerHungTest extends PlannerFixture {
  @Test
  void aServerThatLostItsLockAndDoesNotEndIsStopped() {
    hold("c1", 1, "a", Phase.RUNNING);
    hold("c2", 2, "b", Phase.RUNNING);
    serving.add("c1");
    withoutLock.put("c1", Duration.ofSeconds(59));
    withoutLock.put("c2", Duration.ofMinutes(9)); // It may wait for HDFS.
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
    withoutLock.put("m1", Duration.ofMinutes(9));
    assertThat(planned()).as("it has never served, and is upgraded in its turn").isEmpty();
  }

  @Test
  void aContainerWhoseStartIsNotHeardOfIsGivenBack() {
    hold("c1", 1, "a", Phase.STARTING, HeldContainer.START_WAIT.toSeconds() - 1);
    hold("c2", 2, "b", Phase.STARTING, HeldContainer.START_WAIT.toSeconds());
    assertThat(planned()).containsExactly("release c2");
  }

  @Test
  void aProcessThatNeverStartsUpIsStopped() {
    wanted.put(ComponentKind.MASTER, 1);
    wanted.put(ComponentKind.TABLET_SERVER, 1);
    holdMaster("m1", 1);
    hold("c1", 1, "a", Phase.RUNNING);
    withoutLock.put("m1", HeldContainer.START_WAIT.minusSeconds(1));
    withoutLock.put("c1", HeldContainer.START_WAIT.minusSeconds(1));
    assertThat(planned()).isEmpty();
    withoutLock.put("m1", HeldContainer.START_WAIT);
    assertThat(planned()).containsExactly("stop m1");
    withoutLock.put("c1", HeldContainer.START_WAIT);
    assertThat(planned()).containsExactly("stop m1", "stop c1");
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
}
