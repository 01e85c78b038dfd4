package io.stele.log;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

class HangingNodesTest {
  private static final Set<String> KNOWN = Set.of("a", "b", "c", "d", "e");

  private static List<String> best(List<List<String>> answering, List<List<String>> stuck) {
    return new HangingNodes(KNOWN, answering, stuck).best(new Random(1));
  }

  @Test
  void anyNodeWillDoIfNothingIsStuck() {
    assertThat(best(List.of(List.of("a")), List.of())).isEmpty();
    assertThat(HangingNodes.NONE.best(new Random(1))).isEmpty();
  }

  @Test
  void aNodeOfMoreFilesThatAreStuckIsWorse() {
    List<String> best = best(List.of(), List.of(List.of("a", "b"), List.of("c", "b")));
    assertThat(best).hasSize(5).endsWith("b");
    assertThat(best.subList(0, 2)).containsExactlyInAnyOrder("d", "e");
  }

  @Test
  void aNodeThatAnswersIsBestThoughAFileOnItIsStuck() {
    List<String> best = best(List.of(List.of("a", "f")), List.of(List.of("a", "b", "c")));
    assertThat(best.subList(0, 2)).containsExactlyInAnyOrder("a", "f");
    assertThat(best.subList(2, 4)).containsExactlyInAnyOrder("d", "e");
  }

  @Test
  void equalsComeInAnotherOrderEachTime() {
    HangingNodes nodes = new HangingNodes(KNOWN, List.of(), List.of(List.of("a")));
    Random random = new Random(1);
    Set<List<String>> orders = new HashSet<>();
    for (int i = 0; i < 20; i++) {
      orders.add(nodes.best(random));
    }
    assertThat(orders).hasSizeGreaterThan(5).allSatisfy(order -> assertThat(order).endsWith("a"));
  }
}
