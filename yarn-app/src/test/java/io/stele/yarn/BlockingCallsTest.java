package io.stele.yarn;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.config.Keys;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
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
          assertThat(yarn.registeredAsked).isBetween(5, 21);
          yarn.starting = false;
          process.sleep(A_WHILE);
          assertThat(states()).contains("master-1 RUNNING");
        });
  }

  @Test
  void aNewMasterStartsAtOnceHoweverManyExitsWaitToBeReportedToIt() throws Exception {
    conf.set(Keys.YARN_TABLETSERVER_COUNT.name(), "17");
    simulation.run(
        () -> {
          attempt();
          assertThat(states()).contains("tabletserver-17 RUNNING");
          calls();
          yarn.exitReportTakes = Duration.ofMinutes(2);
          for (int i = 1; i <= 17; i++) {
            yarn.end("tabletserver-" + i, 137);
          }
          yarn.end("master-1", 137);
          process.sleep(Duration.ofSeconds(5));
          assertThat(calls())
              .contains("start master-1", "start tabletserver-17")
              .noneMatch(call -> call.startsWith("exited"));
          assertThat(yarn.deposed).contains("master-1");
        });
  }

  @Test
  void aDeadNodeHoldsNoOtherUpHoweverManyCallsItWasToTake() throws Exception {
    conf.set(Keys.YARN_TABLETSERVER_COUNT.name(), "60");
    simulation.run(
        () -> {
          attempt();
          List<String> dying =
              yarn.runningSlots().stream().filter(slot -> yarn.nodeOf(slot).equals("n1")).toList();
          String other =
              yarn.runningSlots().stream()
                  .filter(slot -> !yarn.nodeOf(slot).equals("n1"))
                  .findFirst()
                  .orElseThrow();
          assertThat(dying).hasSizeGreaterThan(16);
          yarn.dead.add("n1"); // And YARN has yet to notice: it still gives containers there.
          dying.forEach(slot -> yarn.end(slot, 137));
          process.sleep(Duration.ofSeconds(5));
          calls();
          yarn.end(other, 137);
          process.sleep(Duration.ofSeconds(5));
          assertThat(calls()).contains("start " + other);
          assertThat(states()).contains(other + " RUNNING");
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
          master.stop(Optional.empty());
          process.sleep(A_WHILE);
          assertThat(calls()).contains("drain tabletserver-1", "drain tabletserver-2");
        });
  }
}
