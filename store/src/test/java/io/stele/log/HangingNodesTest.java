package io.stele.log;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class HangingNodesTest {
  private static final Set<String> KNOWN = Set.of("a", "b", "c", "d");

  @Test
  void anyNodeWillDoIfNothingIsStuck() {
    assertThat(HangingNodes.others(KNOWN, List.of())).isEmpty();
  }

  @Test
  void whatEveryStuckPipelineHasIsAvoided() {
    assertThat(HangingNodes.others(KNOWN, List.of(List.of("a", "b"), List.of("b", "c"))))
        .containsExactlyInAnyOrder("a", "c", "d");
    assertThat(HangingNodes.others(KNOWN, List.of(List.of("a", "b"))))
        .containsExactlyInAnyOrder("c", "d");
  }

  @Test
  void anyNodeWillDoIfStuckPipelinesHaveNothingInCommon() {
    assertThat(HangingNodes.others(KNOWN, List.of(List.of("a"), List.of("b")))).isEmpty();
  }
}
