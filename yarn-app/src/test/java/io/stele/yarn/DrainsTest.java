package io.stele.yarn;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.config.Keys;
import io.stele.runtime.Task;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Tablet servers that give their tablets away before their containers go, on virtual time. */
final class DrainsTest extends ApplicationMasterFixture {
  @Test
  void aServerGivesItsTabletsAwayBeforeItsContainerGoes() throws Exception {
    simulation.run(
        () -> {
          attempt();
          calls();
          master.flex(ComponentKind.TABLET_SERVER, 1);
          process.sleep(A_WHILE);
          assertThat(calls()).containsOnly("drain tabletserver-2");
          assertThat(states()).contains("tabletserver-2 DRAINING", "tabletserver-1 RUNNING");
          yarn.end("tabletserver-2", 0);
          process.sleep(A_WHILE);
          assertThat(calls()).containsExactly("exited tabletserver-2");
          assertThat(states()).containsExactly("master-1 RUNNING", "tabletserver-1 RUNNING");
        });
  }

  @Test
  void aServerThatIsNotWantedAnyMoreGoesOnUntilTheOtherServes() throws Exception {
    simulation.run(
        () -> {
          attempt();
          yarn.full = true;
          yarn.end("tabletserver-1", 137);
          process.sleep(A_WHILE);
          calls();
          master.flex(ComponentKind.TABLET_SERVER, 1);
          process.sleep(Duration.ofMinutes(2));
          assertThat(calls()).doesNotContain("drain tabletserver-2");
          assertThat(states()).contains("tabletserver-1 ASKED", "tabletserver-2 RUNNING");
          assertThat(noteOf("tabletserver-2")).contains("is no longer needed");
          yarn.makeRoom();
          process.sleep(A_WHILE);
          assertThat(calls()).containsSubsequence("start tabletserver-1", "drain tabletserver-2");
        });
  }

  @Test
  void aServerThatIsNotWantedAnyMoreDoesNotWaitForTheOtherForEver() throws Exception {
    conf.set(Keys.YARN_TABLETSERVER_COUNT.name(), "3");
    simulation.run(
        () -> {
          attempt();
          yarn.full = true;
          yarn.end("tabletserver-1", 137);
          process.sleep(A_WHILE);
          calls();
          master.flex(ComponentKind.TABLET_SERVER, 2);
          process.sleep(A_WHILE);
          master.flex(ComponentKind.TABLET_SERVER, 2); // Once more, which changes nothing.
          Duration wait = YarnSettings.of(conf).limits().replacementWait(Optional.empty());
          process.sleep(wait.minus(A_WHILE).minusSeconds(5));
          assertThat(calls()).doesNotContain("drain tabletserver-3");
          process.sleep(Duration.ofSeconds(10));
          assertThat(calls()).contains("drain tabletserver-3");
        });
  }

  @Test
  void theTimeOfAServerThatIsNotWantedAnyMoreGoesOnThoughTheApplicationMasterRestarts()
      throws Exception {
    conf.set(Keys.YARN_TABLETSERVER_COUNT.name(), "3");
    simulation.run(
        () -> {
          Task first = attempt();
          yarn.full = true;
          yarn.end("tabletserver-1", 137);
          process.sleep(A_WHILE);
          master.flex(ComponentKind.TABLET_SERVER, 2);
          Duration wait = YarnSettings.of(conf).limits().replacementWait(Optional.empty());
          process.sleep(wait.minusMinutes(3));
          yarn.listener.shutDown("another attempt has begun");
          process.await(first.ended());
          attempt();
          process.sleep(Duration.ofMinutes(2));
          assertThat(calls()).doesNotContain("drain tabletserver-3");
          process.sleep(Duration.ofMinutes(1));
          assertThat(calls()).contains("drain tabletserver-3");
        });
  }

  @Test
  void aServerGoesOnWhileAnOperatorDrainsTheOnlyOther() throws Exception {
    simulation.run(
        () -> {
          attempt();
          yarn.drainedByHand.add("tabletserver-1");
          process.sleep(A_WHILE);
          calls();
          master.flex(ComponentKind.TABLET_SERVER, 1);
          process.sleep(Duration.ofHours(1));
          assertThat(calls()).doesNotContain("drain tabletserver-2");
          assertThat(noteOf("tabletserver-1")).contains("takes no tablets", "--undo");
          assertThat(noteOf("tabletserver-2"))
              .isEqualTo("is no longer needed: ends once another serves");
          yarn.drainedByHand.clear();
          process.sleep(A_WHILE);
          assertThat(calls()).contains("drain tabletserver-2");
        });
  }

  /** The locks were read just before. */
  @Test
  void aServerIsNotStoppedThoughAnOperatorHasDrainedTheOnlyOtherAMomentBefore() throws Exception {
    conf.set(Keys.YARN_DRAIN_TIMEOUT.name(), "5s");
    simulation.run(
        () -> {
          attempt();
          int asked = yarn.registeredAsked;
          while (yarn.registeredAsked == asked) {
            process.sleep(Duration.ofMillis(100));
          }
          process.sleep(Duration.ofSeconds(1)); // It has been answered.
          yarn.drainedByHand.add("tabletserver-1");
          master.flex(ComponentKind.TABLET_SERVER, 1);
          process.sleep(Duration.ofMinutes(10));
          assertThat(yarn.drainsUnlessLast).isNotEmpty().containsOnly(true);
          assertThat(calls())
              .contains("drain tabletserver-2")
              .doesNotContain("stop tabletserver-2");
          yarn.drainedByHand.clear();
          process.sleep(Duration.ofMinutes(1));
          assertThat(calls()).contains("stop tabletserver-2");
        });
  }

  @Test
  void aServerIsNotStoppedWhileNoMasterHasItsTabletsServed() throws Exception {
    conf.set(Keys.YARN_DRAIN_TIMEOUT.name(), "30s");
    simulation.run(
        () -> {
          attempt();
          yarn.full = true;
          yarn.end("master-1", 1);
          process.sleep(A_WHILE);
          master.flex(ComponentKind.TABLET_SERVER, 1);
          process.sleep(Duration.ofMinutes(10));
          assertThat(yarn.drainsUnlessLast).isNotEmpty().containsOnly(true);
          assertThat(calls()).doesNotContain("stop tabletserver-2");
          yarn.makeRoom();
          process.sleep(Duration.ofMinutes(1));
          assertThat(calls()).contains("stop tabletserver-2");
        });
  }

  @Test
  void aServerThatWentOnBecauseNoMasterServedIsAskedOnceMoreBeforeItIsStopped() throws Exception {
    conf.set(Keys.YARN_DRAIN_TIMEOUT.name(), "30s");
    simulation.run(
        () -> {
          attempt();
          master.flex(ComponentKind.TABLET_SERVER, 1);
          while (!yarn.drainsUnlessLast.contains(false)) {
            process.sleep(Duration.ofSeconds(1));
          }
          yarn.full = true;
          yarn.end("master-1", 1);
          process.sleep(Duration.ofMinutes(10));
          assertThat(calls()).doesNotContain("stop tabletserver-2");
          yarn.drainsUnlessLast.clear();
          yarn.makeRoom();
          while (!yarn.calls.contains("stop tabletserver-2")) {
            process.sleep(Duration.ofSeconds(1));
          }
          assertThat(yarn.drainsUnlessLast).as("it may end in order now").contains(false);
        });
  }

  @Test
  void theServersOfAnApplicationThatIsStoppedAreAskedToEndAtOnce() throws Exception {
    simulation.run(
        () -> {
          attempt();
          calls();
          master.stop(Optional.empty());
          process.sleep(A_WHILE);
          assertThat(yarn.drainsUnlessLast).isNotEmpty().containsOnly(false);
        });
  }

  @Test
  void theLastServerThatServesGoesOnUntilAnotherDoes() throws Exception {
    simulation.run(
        () -> {
          attempt();
          yarn.full = true;
          yarn.end("tabletserver-1", 137);
          process.sleep(A_WHILE);
          master.flex(ComponentKind.TABLET_SERVER, 1);
          process.sleep(Duration.ofHours(1));
          assertThat(calls()).doesNotContain("drain tabletserver-2");
          assertThat(noteOf("tabletserver-2"))
              .isEqualTo("is no longer needed: ends once another serves");
          yarn.makeRoom();
          process.sleep(Duration.ofMinutes(1));
          assertThat(calls()).contains("start tabletserver-1", "drain tabletserver-2");
        });
  }

  @Test
  void aMasterIsStartedThoughManyServersCannotBeAskedToDrain() throws Exception {
    conf.set(Keys.YARN_TABLETSERVER_COUNT.name(), "20");
    simulation.run(
        () -> {
          attempt();
          process.sleep(A_WHILE);
          yarn.drainTakes = Duration.ofSeconds(50); // The lock service is away.
          master.flex(ComponentKind.TABLET_SERVER, 1);
          process.sleep(Duration.ofSeconds(5));
          calls();
          yarn.end("master-1", 1);
          process.sleep(A_WHILE);
          assertThat(calls()).contains("start master-1");
        });
  }

  @Test
  void aServerThatIsNotRegisteredIsStopped() throws Exception {
    simulation.run(
        () -> {
          attempt();
          calls();
          yarn.drainFailure = Optional.of(new NotRegisteredException("its container"));
          master.flex(ComponentKind.TABLET_SERVER, 1);
          process.sleep(A_WHILE);
          assertThat(calls())
              .containsExactly(
                  "drain tabletserver-2", "stop tabletserver-2", "exited tabletserver-2");
        });
  }

  @Test
  void aServerThatDoesNotAnswerIsAskedAgainAndNotStopped() throws Exception {
    simulation.run(
        () -> {
          attempt();
          calls();
          yarn.drainFailure = Optional.of(new SocketTimeoutException("it does not answer"));
          master.flex(ComponentKind.TABLET_SERVER, 1);
          process.sleep(Duration.ofSeconds(3));
          assertThat(calls()).containsExactly("drain tabletserver-2");
          assertThat(states()).contains("tabletserver-2 DRAINING");
          yarn.drainFailure = Optional.empty();
          process.sleep(A_WHILE);
          assertThat(calls()).containsOnly("drain tabletserver-2").hasSizeBetween(3, 5);
          yarn.end("tabletserver-2", 0);
          process.sleep(A_WHILE);
          assertThat(calls()).containsExactly("exited tabletserver-2");
        });
  }

  @Test
  void aServerThatNeverAnswersIsStoppedWhenItsTimeToDrainIsUp() throws Exception {
    conf.set(Keys.YARN_DRAIN_TIMEOUT.name(), "30s");
    simulation.run(
        () -> {
          attempt();
          calls();
          yarn.drainFailure = Optional.of(new SocketTimeoutException("it does not answer"));
          master.flex(ComponentKind.TABLET_SERVER, 1);
          process.sleep(Duration.ofSeconds(29));
          assertThat(calls()).containsOnly("drain tabletserver-2").hasSizeBetween(5, 6);
          process.sleep(Duration.ofMinutes(1)); // The locks are read first, and it is asked again.
          assertThat(calls()).contains("stop tabletserver-2").endsWith("exited tabletserver-2");
        });
  }

  @Test
  void serversOfWhichNoneIsWantedAreAskedToEndWhetherOrNotOthersServe() throws Exception {
    simulation.run(
        () -> {
          attempt();
          calls();
          master.flex(ComponentKind.TABLET_SERVER, 0);
          process.sleep(A_WHILE);
          assertThat(yarn.drainsUnlessLast).hasSizeGreaterThan(3).containsOnly(false);
        });
  }

  @Test
  void aServerIsAskedToDrainUntilItEndsAsADrainMayFail() throws Exception {
    simulation.run(
        () -> {
          attempt();
          calls();
          master.flex(ComponentKind.TABLET_SERVER, 1);
          process.sleep(A_WHILE);
          assertThat(yarn.calls).containsOnly("drain tabletserver-2").hasSizeBetween(3, 5);
          assertThat(yarn.drainsUnlessLast).containsOnly(true);
          // As it is about to end.
          yarn.drainFailure = Optional.of(new NotRegisteredException("its container"));
          process.sleep(A_WHILE);
          assertThat(calls()).containsOnly("drain tabletserver-2").hasSizeBetween(6, 10);
          yarn.end("tabletserver-2", 0);
          process.sleep(A_WHILE);
          assertThat(calls()).containsExactly("exited tabletserver-2");
        });
  }

  @Test
  void aServerThatDoesNotEndAfterItsDrainIsStopped() throws Exception {
    conf.set(Keys.YARN_DRAIN_TIMEOUT.name(), "30s");
    simulation.run(
        () -> {
          attempt();
          calls();
          master.flex(ComponentKind.TABLET_SERVER, 1);
          process.sleep(Duration.ofSeconds(29));
          assertThat(calls()).containsOnly("drain tabletserver-2");
          assertThat(yarn.drainsUnlessLast).containsOnly(true);
          yarn.drainsUnlessLast.clear();
          int asked = yarn.registeredAsked;
          while (!yarn.drainsUnlessLast.contains(false)) {
            process.sleep(Duration.ofSeconds(1));
          }
          assertThat(yarn.registeredAsked - asked)
              .as("the locks were read since its time was over")
              .isPositive();
          process.sleep(Duration.ofSeconds(7));
          assertThat(calls()).as("it may yet end in order").containsOnly("drain tabletserver-2");
          process.sleep(A_WHILE);
          assertThat(calls()).containsSubsequence("stop tabletserver-2", "exited tabletserver-2");
        });
  }

  @Test
  void theServersOfANodeThatLeavesAreReplacedAndThenDrained() throws Exception {
    simulation.run(
        () -> {
          attempt();
          calls();
          String leaving = yarn.nodeOf("tabletserver-1");
          yarn.decommission(leaving, 3600);
          process.sleep(A_WHILE);
          assertThat(calls())
              .containsSubsequence(
                  "request tabletserver-1", "start tabletserver-1", "drain tabletserver-1")
              .doesNotContain("stop tabletserver-1");
          yarn.end("tabletserver-1", 0); // The later one of two; then the first goes on.
          process.sleep(A_WHILE);
          assertThat(calls()).contains("start tabletserver-1");
        });
  }

  @Test
  void whatCannotBeReplacedIsDrainedBeforeItsNodeLeaves() throws Exception {
    simulation.run(
        () -> {
          attempt();
          calls();
          yarn.full = true;
          yarn.decommission(yarn.nodeOf("tabletserver-1"), 100);
          process.sleep(Duration.ofSeconds(45));
          assertThat(calls())
              .contains("request tabletserver-1")
              .doesNotContain("drain tabletserver-1");
          process.sleep(Duration.ofSeconds(10));
          assertThat(calls()).contains("drain tabletserver-1");
          assertThat(yarn.drainsUnlessLast).containsOnly(false);
          yarn.end("tabletserver-1", 0);
          yarn.makeRoom();
          process.sleep(A_WHILE);
          assertThat(calls()).contains("start tabletserver-1");
        });
  }

  @Test
  void theTimeOfANodeThatLeavesGoesOnThoughTheApplicationMasterAndYarnRestart() throws Exception {
    simulation.run(
        () -> {
          Task first = attempt();
          yarn.full = true;
          yarn.decommission(yarn.nodeOf("tabletserver-1"), 120);
          process.sleep(A_WHILE);
          yarn.listener.shutDown("another attempt has begun");
          process.await(first.ended());
          calls();
          yarn.listIsEmpty = true;
          attempt();
          yarn.listIsEmpty = false;
          process.sleep(Duration.ofSeconds(15));
          assertThat(calls()).doesNotContain("drain tabletserver-1");
          process.sleep(Duration.ofSeconds(15));
          assertThat(calls()).contains("drain tabletserver-1");
        });
  }

  @Test
  void aServerWhoseContainerYarnCallsBackGivesItsTabletsAwayAtOnce() throws Exception {
    simulation.run(
        () -> {
          attempt();
          calls();
          yarn.preempt("tabletserver-1");
          yarn.preempt("tabletserver-1"); // YARN says it in each answer.
          process.sleep(A_WHILE);
          assertThat(calls()).containsOnly("drain tabletserver-1");
          assertThat(yarn.drainsUnlessLast).containsOnly(false);
          assertThat(noteOf("tabletserver-1")).contains("YARN is preempting its container");
          yarn.full = true;
          yarn.end("tabletserver-1", 0);
          process.sleep(A_WHILE);
          assertThat(calls()).contains("request tabletserver-1");
          assertThat(restarts("tabletserver-1")).isEqualTo(1);
          yarn.makeRoom();
          process.sleep(A_WHILE);
          assertThat(noteOf("tabletserver-1")).contains("because YARN preempted its container");
        });
  }
}
