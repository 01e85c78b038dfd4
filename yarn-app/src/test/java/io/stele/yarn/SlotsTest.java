package io.stele.yarn;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;

/** What YARN has been asked for, and what it refuses. */
final class SlotsTest {
  private static final Instant NOW = Instant.parse("2026-01-01T00:00:00Z");

  private final Slots slots = new Slots();

  private Set<SlotId> withoutHeadroom(int secondsLater) {
    return slots.snapshot(NOW.plusSeconds(secondsLater)).withoutHeadroom();
  }

  @Test
  void aSlotIsWithoutRoomAMinuteAfterItWasFirstAskedFor() {
    SlotId slot = new SlotId(ComponentKind.TABLET_SERVER, 1);
    slots.asked(new Ask(slot, new Placement.OnNode("a"), Set.of(), NOW, NOW));
    slots.asked(new Ask(slot, new Placement.Anywhere(), Set.of("a"), NOW.plusSeconds(50), NOW));
    assertThat(withoutHeadroom(59)).isEmpty();
    assertThat(withoutHeadroom(60)).containsExactly(slot);
    slots.notAsked(slot);
    slots.given(slot);
    assertThat(withoutHeadroom(61)).isEmpty();
  }

  @Test
  void aSlotIsWithoutRoomWhileYarnRefusesAContainerForIt() {
    SlotId slot = new SlotId(ComponentKind.MASTER, 1);
    slots.asked(new Ask(slot, new Placement.Anywhere(), Set.of(), NOW, NOW));
    assertThat(slots.refused(slot, "larger than any node", NOW)).isTrue();
    assertThat(withoutHeadroom(1)).containsExactly(slot);
    slots.asked(
        new Ask(
            slot, new Placement.Anywhere(), Set.of(), NOW.plusSeconds(30), NOW.plusSeconds(30)));
    assertThat(withoutHeadroom(31)).containsExactly(slot);
    slots.given(slot);
    assertThat(withoutHeadroom(61)).isEmpty();
  }

  @Test
  void aContainerThatYarnGivesEndsTheRefusal() {
    SlotId slot = new SlotId(ComponentKind.MASTER, 1);
    ApplicationState state =
        new ApplicationState(YarnSettings.of(new Configuration()), FakeYarn.SUBMITTED);
    state.slots().asked(new Ask(slot, new Placement.Anywhere(), Set.of(), NOW, NOW));
    state.slots().refused(slot, "larger than any node", NOW);
    assertThat(state.slots().refusals()).containsKey(slot);
    state.allocated("c1", slot, "a", NOW);
    assertThat(state.slots().refusals()).isEmpty();
  }
}
