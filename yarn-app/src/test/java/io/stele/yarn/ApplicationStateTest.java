package io.stele.yarn;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;

final class ApplicationStateTest {
  private static final Instant NOW = Instant.parse("2026-01-01T00:00:00Z");

  private final ApplicationState state =
      new ApplicationState(YarnSettings.of(new Configuration()), FakeYarn.SUBMITTED);

  private Set<SlotId> withoutHeadroom(int secondsLater) {
    return state.snapshot(NOW.plusSeconds(secondsLater)).withoutHeadroom();
  }

  @Test
  void aSlotIsWithoutRoomAMinuteAfterItWasFirstAskedFor() {
    SlotId slot = new SlotId(ComponentKind.TABLET_SERVER, 1);
    state.asked(new Ask(slot, new Placement.OnNode("a"), Set.of(), NOW, NOW));
    state.asked(new Ask(slot, new Placement.Anywhere(), Set.of("a"), NOW.plusSeconds(50), NOW));
    assertThat(withoutHeadroom(59)).isEmpty();
    assertThat(withoutHeadroom(60)).containsExactly(slot);
    state.notAsked(slot);
    state.allocated("container_1", slot, "b", NOW.plusSeconds(60));
    assertThat(withoutHeadroom(61)).isEmpty();
  }

  @Test
  void aSlotIsWithoutRoomWhileYarnRefusesAContainerForIt() {
    SlotId slot = new SlotId(ComponentKind.MASTER, 1);
    state.asked(new Ask(slot, new Placement.Anywhere(), Set.of(), NOW, NOW));
    assertThat(state.refused(slot, "larger than any node", NOW)).isTrue();
    assertThat(withoutHeadroom(1)).containsExactly(slot);
    state.asked(
        new Ask(
            slot, new Placement.Anywhere(), Set.of(), NOW.plusSeconds(30), NOW.plusSeconds(30)));
    assertThat(withoutHeadroom(31)).containsExactly(slot);
    state.allocated("container_1", slot, "b", NOW.plusSeconds(60));
    assertThat(withoutHeadroom(61)).isEmpty();
  }
}
