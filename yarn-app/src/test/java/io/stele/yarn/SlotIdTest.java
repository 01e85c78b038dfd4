package io.stele.yarn;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

/** Slots as YARN and the state file know them. */
final class SlotIdTest {
  @Test
  void aSlotIsFoundAgainByWhatYarnKeeps() {
    for (SlotId slot :
        List.of(
            new SlotId(ComponentKind.MASTER, 1),
            new SlotId(ComponentKind.TABLET_SERVER, 1),
            new SlotId(ComponentKind.TABLET_SERVER, 42),
            new SlotId(ComponentKind.TABLET_SERVER, 999_999))) {
      assertThat(SlotId.of(slot.allocationRequestId())).contains(slot);
      assertThat(SlotId.parse(slot.toString())).isEqualTo(slot);
    }
    assertThat(SlotId.of(0)).isEmpty();
    assertThat(SlotId.of(-1)).isEmpty();
    assertThat(SlotId.of(7_000_001)).isEmpty();
  }
}
