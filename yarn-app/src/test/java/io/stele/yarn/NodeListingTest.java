package io.stele.yarn;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Nodes that YARN lists no longer, on virtual time. */
final class NodeListingTest extends ApplicationMasterFixture {
  @Test
  void aServerOnANodeThatYarnHasForgottenIsGivenUpAndReplaced() throws Exception {
    simulation.run(
        () -> {
          attempt();
          calls();
          String node = yarn.nodeOf("tabletserver-1");
          yarn.forget(node);
          process.sleep(Duration.ofMinutes(9));
          assertThat(calls()).isEmpty();
          process.sleep(Duration.ofMinutes(3));
          assertThat(calls())
              .containsExactlyInAnyOrder(
                  "release tabletserver-1",
                  "lost tabletserver-1",
                  "request tabletserver-1",
                  "start tabletserver-1");
          assertThat(states()).contains("tabletserver-1 RUNNING");
          assertThat(yarn.nodeOf("tabletserver-1")).isNotEqualTo(node);
          assertThat(restarts("tabletserver-1")).isEqualTo(1);
        });
  }

  @Test
  void aNodeIsMissingOnlyWhileOthersAreListed() throws Exception {
    simulation.run(
        () -> {
          attempt();
          calls();
          String node = yarn.nodeOf("tabletserver-1");
          yarn.forget(node);
          process.sleep(Duration.ofMinutes(5));
          yarn.listFails = true;
          process.sleep(Duration.ofMinutes(30));
          yarn.listFails = false;
          yarn.listIsEmpty = true;
          process.sleep(Duration.ofMinutes(30));
          yarn.listIsEmpty = false;
          process.sleep(Duration.ofMinutes(3));
          assertThat(calls()).isEmpty();
          yarn.remember(node);
          process.sleep(Duration.ofMinutes(2));
          yarn.forget(node);
          process.sleep(Duration.ofMinutes(9));
          assertThat(calls()).as("it was seen meanwhile").isEmpty();
        });
  }
}
