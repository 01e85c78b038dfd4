package io.stele.yarn;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Many components that wait for the same. */
final class AlikeComponentsTest {
  private static ComponentStatus component(String id, String state, String note) {
    String container = state.equals("RUNNING") ? "container_1_" + id : "";
    return new ComponentStatus(id, state, container, "", 0, note, false, 0, "");
  }

  private static List<String> names(List<ComponentStatus> components) {
    return AlikeComponents.of(components).stream().map(AlikeComponents::names).toList();
  }

  @Test
  void aFullQueueIsOneLineOfTheStatus() {
    List<ComponentStatus> components = new ArrayList<>();
    components.add(component("master-1", "RUNNING", ""));
    IntStream.rangeClosed(1, 5)
        .forEach(i -> components.add(component("tabletserver-" + i, "RUNNING", "")));
    IntStream.rangeClosed(6, 100)
        .forEach(i -> components.add(component("tabletserver-" + i, "ASKED", "no room")));
    components.add(component("tabletserver-101", "ASKED", "refused"));
    assertThat(names(components))
        .containsExactly(
            "master-1",
            "tabletserver-1",
            "tabletserver-2",
            "tabletserver-3",
            "tabletserver-4",
            "tabletserver-5",
            "tabletserver-6 and 94 more",
            "tabletserver-101");
  }

  @Test
  void fewAreNamedEach() {
    assertThat(
            names(
                List.of(
                    component("tabletserver-1", "ASKED", "no room"),
                    component("tabletserver-2", "ASKED", "no room"),
                    component("tabletserver-3", "ASKED", "no room"))))
        .containsExactly("tabletserver-1", "tabletserver-2", "tabletserver-3");
  }

  @Test
  void aFullQueueIsOneLineOfTheLogForEachKind() {
    List<Ask> asks = new ArrayList<>();
    asks.add(ask(ComponentKind.MASTER, 2));
    IntStream.rangeClosed(4, 100).forEach(i -> asks.add(ask(ComponentKind.TABLET_SERVER, i)));
    assertThat(WaitLog.lines(asks, ask -> "no room"))
        .containsExactly("master-2: no room", "tabletserver-4 and 96 more: no room");
  }

  private static Ask ask(ComponentKind kind, int index) {
    return new Ask(
        new SlotId(kind, index), new Placement.Anywhere(), Set.of(), Instant.EPOCH, Instant.EPOCH);
  }
}
