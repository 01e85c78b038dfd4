package io.stele.yarn;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.wire.application.ApplicationProtos.ApplicationStateProto;
import io.stele.yarn.HeldContainer.Phase;
import io.stele.yarn.HeldContainer.Registration;
import java.time.Instant;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Containers with what was noted of them, and what of it a later attempt takes over. */
final class HeldContainersTest {
  private static final Instant NOW = Instant.parse("2026-01-01T00:00:00Z");
  private static final SlotId SLOT = new SlotId(ComponentKind.TABLET_SERVER, 1);

  private final HeldContainers containers = new HeldContainers();

  private HeldContainer found(HeldContainers of, String id) {
    return of.find(id).orElseThrow();
  }

  private static HeldContainers afterRestart(HeldContainers containers) {
    ApplicationStateProto.Builder proto = ApplicationStateProto.newBuilder().setApplicationId("a");
    containers.writeTo(proto);
    HeldContainers later = new HeldContainers();
    later.takeOver(proto.build(), SavedTimes.ofAnother(NOW.plusSeconds(100)));
    return later;
  }

  @Test
  void whatIsNotedOfAContainerGoesWithIt() {
    containers.allocated("c1", SLOT, "a", NOW);
    assertThat(containers.mark("c1", marks -> marks.preempted(true))).isTrue();
    assertThat(containers.mark("c1", marks -> marks.preempted(true))).as("no news").isFalse();
    containers.enter("c1", Phase.RUNNING, NOW.plusSeconds(1));
    assertThat(found(containers, "c1").marks().preempted()).isTrue();
    assertThat(containers.remove("c1")).isPresent();
    assertThat(containers.mark("c1", marks -> marks.outdated(true))).isFalse();
    assertThat(containers.enter("c1", Phase.STOPPING, NOW)).as("it stays ended").isEmpty();
    containers.allocated("c1", SLOT, "a", NOW);
    assertThat(found(containers, "c1").marks()).isEqualTo(HeldContainer.Marks.NONE);
  }

  @Test
  void aLaterAttemptExpectsThemWithTheirMarksAndKnowsSinceWhenTheyRun() {
    containers.allocated("c1", SLOT, "a", NOW);
    containers.enter("c1", Phase.STARTING, NOW);
    containers.enter("c1", Phase.RUNNING, NOW.plusSeconds(1));
    containers.mark("c1", marks -> marks.registration(Registration.SERVING).outdated(true));
    containers.allocated("c2", SLOT, "a", NOW);
    HeldContainers later = afterRestart(containers);
    assertThat(later.find("c2")).as("nothing was started in it").isEmpty();
    assertThat(found(later, "c1").phase()).isEqualTo(Phase.EXPECTED);
    assertThat(later.recovered("c1", SLOT, "a", NOW.plusSeconds(101))).isTrue();
    assertThat(later.recovered("c1", SLOT, "a", NOW.plusSeconds(102))).isFalse();
    later.enter("c1", Phase.RUNNING, NOW.plusSeconds(103));
    HeldContainer running = found(later, "c1");
    assertThat(running.since()).isEqualTo(NOW.plusSeconds(1));
    assertThat(running.hasItsLock()).isTrue();
    assertThat(running.marks().outdated()).isTrue();
  }

  @Test
  void oneThatWasGivenBackAndIsThereAfterAllKeepsItsMarks() {
    containers.allocated("c1", SLOT, "a", NOW);
    containers.enter("c1", Phase.RUNNING, NOW);
    containers.mark("c1", marks -> marks.registration(Registration.SERVING).outdated(true));
    containers.enter("c1", Phase.RELEASED, NOW);
    HeldContainers later = afterRestart(afterRestart(containers));
    assertThat(later.find("c1")).as("it is not expected").isEmpty();
    later.recovered("c1", SLOT, "a", NOW.plusSeconds(101));
    assertThat(found(later, "c1").marks())
        .isEqualTo(HeldContainer.Marks.NONE.registration(Registration.SERVING).outdated(true));
    later.remove("c1");
    later.recovered("c1", SLOT, "a", NOW.plusSeconds(102));
    assertThat(found(afterRestart(later), "c1").marks())
        .as("it has ended")
        .isEqualTo(HeldContainer.Marks.NONE);
  }

  @Test
  void oneThatIsStoppedBecauseItHangsIsKnownToHaveHung() {
    containers.allocated("c1", SLOT, "a", NOW);
    containers.enter("c1", Phase.RUNNING, NOW);
    Registration neverStarted =
        new Registration(false, Optional.of(HeldContainer.START_WAIT), false, Optional.empty());
    containers.mark("c1", marks -> marks.registration(neverStarted));
    containers.enter("c1", Phase.STOPPING, NOW.plusSeconds(600));
    assertThat(found(containers, "c1").marks().hang()).contains(HeldContainer.Hang.NEVER_STARTED);
  }
}
