package io.stele.yarn;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Calls that the ApplicationMaster makes beside its loop, on virtual time. */
final class BlockingCallsTest extends ApplicationMasterFixture {
  @Test
  void whoServesIsAskedWithPauses() throws Exception {
    simulation.run(
        () -> {
          yarn.starting = true;
          attempt();
          assertThat(states()).contains("master-1 STARTING");
          assertThat(yarn.servingAsked).isBetween(5, 21);
          yarn.starting = false;
          process.sleep(A_WHILE);
          assertThat(states()).contains("master-1 RUNNING");
        });
  }

  @Test
  void anErrorInACallIsAFailureLikeAnyOther() throws Exception {
    simulation.run(
        () -> {
          attempt();
          calls();
          yarn.broken = true;
          yarn.end("tabletserver-1", 137);
          process.sleep(Duration.ofSeconds(5));
          assertThat(states()).doesNotContain("tabletserver-1 RUNNING");
          yarn.broken = false;
          process.sleep(A_WHILE);
          assertThat(states()).contains("tabletserver-1 RUNNING");
          yarn.broken = true;
          master.stop();
          process.sleep(A_WHILE);
          assertThat(calls()).contains("drain tabletserver-1", "drain tabletserver-2");
        });
  }
}
