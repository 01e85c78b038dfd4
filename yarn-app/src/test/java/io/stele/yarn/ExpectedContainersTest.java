package io.stele.yarn;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.runtime.Task;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/**
 * Both the ApplicationMaster and the ResourceManager have restarted, and YARN reports containers of
 * the earlier attempt late or never.
 */
final class ExpectedContainersTest extends ApplicationMasterFixture {
  private static final Duration SECOND = Duration.ofSeconds(1);

  /** Begins an attempt after one under which all ran; YARN does not know the node at first. */
  private String restartWithout(String slot) throws Exception {
    Task first = attempt();
    String node = yarn.nodeOf(slot);
    process.sleep(A_WHILE);
    yarn.listener.shutDown("another attempt has begun");
    process.await(first.ended());
    yarn.forget(node);
    calls();
    attempt();
    return node;
  }

  @Test
  void whatIsReportedLateGoesOnAndNothingIsStartedInItsPlace() throws Exception {
    simulation.run(
        () -> {
          String node = restartWithout("tabletserver-1");
          assertThat(states()).contains("tabletserver-1 STARTING", "tabletserver-2 RUNNING");
          assertThat(noteOf("tabletserver-1")).contains("has yet to report its container");
          yarn.comesBack(node);
          process.sleep(Duration.ofMinutes(2));
          assertThat(states())
              .containsExactly(
                  "master-1 RUNNING", "tabletserver-1 RUNNING", "tabletserver-2 RUNNING");
          assertThat(calls()).containsExactly("register");
          assertThat(restarts("tabletserver-1")).isZero();
        });
  }

  @Test
  void whatHasEndedMeanwhileIsToldToTheMasterAndReplaced() throws Exception {
    simulation.run(
        () -> {
          restartWithout("tabletserver-1");
          yarn.end("tabletserver-1", 137);
          process.sleep(A_WHILE);
          assertThat(calls()).contains("exited tabletserver-1", "start tabletserver-1");
          assertThat(restarts("tabletserver-1")).isEqualTo(1);
        });
  }

  @Test
  void whatHasNoLockIsReplacedAfterAMinuteAndEndsShouldItComeBack() throws Exception {
    simulation.run(
        () -> {
          String node = restartWithout("tabletserver-1");
          String old = yarn.running("tabletserver-1").getId().toString();
          yarn.lost.add(old);
          process.sleep(ApplicationState.EXPECTED_WAIT.minus(A_WHILE).minus(SECOND));
          assertThat(calls()).containsExactly("register");
          process.sleep(A_WHILE.multipliedBy(2));
          assertThat(calls()).contains("start tabletserver-1").doesNotContain("exited master-1");
          assertThat(yarn.running("tabletserver-1").getId().toString()).isNotEqualTo(old);
          yarn.lost.clear();
          yarn.comesBack(node);
          process.sleep(A_WHILE);
          assertThat(calls()).as("one of the two").contains("drain tabletserver-1");
        });
  }

  @Test
  void whatServesIsWaitedForUntilYarnWouldGiveItsNodeUp() throws Exception {
    simulation.run(
        () -> {
          restartWithout("tabletserver-1");
          process.sleep(Duration.ofMinutes(9));
          assertThat(calls()).containsExactly("register");
          process.sleep(Duration.ofMinutes(3));
          assertThat(calls()).contains("lost tabletserver-1", "start tabletserver-1");
        });
  }

  @Test
  void whatYarnDoesNotKnowThoughItsNodeIsThereIsLost() throws Exception {
    simulation.run(
        () -> {
          String node = restartWithout("tabletserver-1");
          process.sleep(Duration.ofMinutes(2));
          yarn.remember(node);
          process.sleep(ApplicationState.EXPECTED_WAIT.minus(SECOND));
          assertThat(calls()).as("it may be reported any moment").containsExactly("register");
          process.sleep(Duration.ofMinutes(1).plus(A_WHILE));
          assertThat(calls()).contains("lost tabletserver-1", "start tabletserver-1");
        });
  }

  @Test
  void whatEndsAsItsNodeComesBackIsReplacedAtOnce() throws Exception {
    simulation.run(
        () -> {
          String node = restartWithout("tabletserver-1");
          yarn.comesBackAndEnds(node, "tabletserver-1", 137);
          process.sleep(A_WHILE);
          assertThat(calls()).contains("exited tabletserver-1", "start tabletserver-1");
          assertThat(states())
              .containsExactly(
                  "master-1 RUNNING", "tabletserver-1 RUNNING", "tabletserver-2 RUNNING");
          assertThat(restarts("tabletserver-1")).isEqualTo(1);
        });
  }

  @Test
  void whatYarnHasLostSightOfAndFindsAgainIsHeld() throws Exception {
    simulation.run(
        () -> {
          String node = restartWithout("tabletserver-1");
          yarn.losesSight("tabletserver-1");
          process.sleep(A_WHILE);
          assertThat(calls()).contains("start tabletserver-1");
          yarn.comesBack(node);
          process.sleep(A_WHILE);
          assertThat(calls()).as("one of the two").contains("drain tabletserver-1");
        });
  }

  @Test
  void whenAllIsToStopItIsNotWaitedForLong() throws Exception {
    simulation.run(
        () -> {
          restartWithout("tabletserver-1");
          master.stop(Optional.empty());
          process.sleep(A_WHILE);
          yarn.end("tabletserver-2", 0);
          process.sleep(ApplicationState.EXPECTED_WAIT);
          assertThat(exits).contains(0);
        });
  }
}
