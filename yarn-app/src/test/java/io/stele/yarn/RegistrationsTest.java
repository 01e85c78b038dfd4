package io.stele.yarn;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.wire.application.ApplicationProtos.ApplicationStateProto;
import io.stele.wire.application.ApplicationProtos.HeldContainerProto;
import io.stele.yarn.HeldContainer.Phase;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;

/** What an attempt believes of a process that was starting when the attempt before it ended. */
final class RegistrationsTest {
  private static final Instant NOW = Instant.parse("2026-01-01T00:00:00Z");
  private static final SlotId SLOT = new SlotId(ComponentKind.TABLET_SERVER, 1);

  private final ApplicationState state =
      new ApplicationState(YarnSettings.of(new Configuration()), FakeYarn.SUBMITTED);

  /** It runs, and had been starting for all the time that it may take. */
  private void takeOver() {
    HeldContainerProto container =
        HeldContainerProto.newBuilder()
            .setId("c1")
            .setSlot(SLOT.toString())
            .setNode("n")
            .setStartingForMillis(HeldContainer.START_WAIT.toMillis())
            .build();
    ApplicationStateProto saved =
        ApplicationStateProto.newBuilder().setApplicationId("a").addContainers(container).build();
    state.takeOver(new StateFile.Saved(saved, Duration.ZERO), "a", NOW);
    state.recovered("c1", SLOT, "n", NOW);
    state.enter("c1", Phase.RUNNING, NOW);
  }

  private HeldContainer container() {
    return state.snapshot(NOW).containers().get(0);
  }

  @Test
  void itDoesNotHangBeforeTheLockServiceHasBeenAsked() {
    takeOver();
    assertThat(container().hang(NOW)).as("it may have come up meanwhile").isEmpty();
    state
        .registrations()
        .listed(Set.of("c1"), new Servers.Registered(Set.of("c1"), Set.of()), NOW, NOW);
    assertThat(container().hang(NOW)).isEmpty();
    assertThat(container().hasItsLock()).isTrue();
  }

  @Test
  void itHangsIfTheLockServiceDoesNotKnowIt() {
    takeOver();
    state
        .registrations()
        .listed(Set.of("c1"), new Servers.Registered(Set.of(), Set.of()), NOW, NOW);
    assertThat(container().hang(NOW)).contains(HeldContainer.Hang.NEVER_STARTED);
  }

  @Test
  void untilThenItsTimeIsKeptForTheNextAttempt() {
    takeOver();
    List<HeldContainerProto> saved = state.toProto("a").getContainersList();
    assertThat(saved).hasSize(1);
    assertThat(saved.get(0).getStartingForMillis()).isEqualTo(HeldContainer.START_WAIT.toMillis());
  }
}
