package io.stele.yarn;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.runtime.Task;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** What an attempt leaves to the next, on virtual time. */
final class StateSavingTest extends ApplicationMasterFixture {
  @Test
  void theNextAttemptTouchesNoServerEvenWithoutALockService() throws Exception {
    simulation.run(
        () -> {
          Task first = attempt();
          yarn.listener.shutDown("another attempt has begun");
          process.await(first.ended());
          assertThat(exits).containsExactly(2);
          calls();
          lockServiceAway = true;
          attempt();
          assertThat(calls()).containsExactly("register");
          assertThat(states())
              .containsExactly(
                  "master-1 RUNNING", "tabletserver-1 RUNNING", "tabletserver-2 RUNNING");
          // And it keeps them running.
          yarn.end("tabletserver-2", 137);
          process.sleep(A_WHILE);
          assertThat(calls()).contains("exited tabletserver-2", "start tabletserver-2");
        });
  }

  @Test
  void whatIsAskedForIsAnsweredOnceItIsSaved() throws Exception {
    simulation.run(
        () -> {
          attempt();
          Path written = directory.resolve("state." + FakeYarn.attempt(1) + ".tmp");
          Files.createDirectory(written); // So it cannot be.
          CompletableFuture<Void> answer = master.flex(ComponentKind.TABLET_SERVER, 1);
          process.sleep(A_WHILE);
          assertThat(states()).contains("tabletserver-2 DRAINING");
          assertThat(answer).isNotDone();
          Files.delete(written);
          process.sleep(A_WHILE);
          assertThat(answer).isCompleted();
        });
  }

  @Test
  void whatIsSavedIsAnsweredThoughItCannotBeSavedAgain() throws Exception {
    simulation.run(
        () -> {
          attempt();
          process.sleep(Duration.ofMinutes(30)); // From now on nothing changes.
          Files.createDirectory(directory.resolve("state." + FakeYarn.attempt(1) + ".tmp"));
          process.sleep(SavedTimes.REFRESH.multipliedBy(2));
          CompletableFuture<Void> answer = master.flex(ComponentKind.TABLET_SERVER, 2);
          process.sleep(A_WHILE);
          assertThat(answer).isCompleted();
        });
  }

  @Test
  void anAttemptWaitsForTheStateThatTheOneBeforeItLeft() throws Exception {
    simulation.run(
        () -> {
          attempt();
          master.flex(ComponentKind.TABLET_SERVER, 3);
          process.sleep(A_WHILE);
          Path state = directory.resolve("state." + FakeYarn.attempt(1));
          Path away = directory.resolve("away");
          Files.move(state, away);
          Files.createDirectory(state); // It can be listed and not be read.
          calls();
          attempt();
          assertThat(calls()).isEmpty();
          assertThat(exits).isEmpty();
          Files.delete(state);
          Files.move(away, state);
          process.sleep(A_WHILE);
          assertThat(calls()).containsExactly("register");
          assertThat(states()).contains("tabletserver-3 RUNNING");
        });
  }

  private boolean savedThatNoneIsLeft(int notDrained) throws IOException {
    return StateFile.latest(conf, new org.apache.hadoop.fs.Path(directory.resolve("state").toUri()))
        .filter(state -> state.getStopping() && state.getContainersCount() == 0)
        .filter(state -> state.getNotDrained() == notDrained)
        .isPresent();
  }

  @Test
  void howAllWasStoppedIsSavedBeforeTheApplicationEnds() throws Exception {
    simulation.run(
        () -> {
          attempt();
          master.stop(Optional.empty());
          process.sleep(A_WHILE);
          List<Boolean> saved = new ArrayList<>();
          yarn.whenUnregistered = () -> saved.add(savedThatNoneIsLeft(1));
          yarn.end("tabletserver-2", 0);
          yarn.end("tabletserver-1", 137);
          process.sleep(A_WHILE);
          assertThat(exits).containsExactly(0);
          assertThat(saved).containsExactly(true);
        });
  }

  @Test
  void whereNothingCanBeSavedTheApplicationEndsAllTheSame() throws Exception {
    simulation.run(
        () -> {
          attempt();
          master.stop(Optional.empty());
          process.sleep(A_WHILE);
          Files.createDirectory(directory.resolve("state." + FakeYarn.attempt(1) + ".tmp"));
          yarn.end("tabletserver-1", 0);
          yarn.end("tabletserver-2", 0);
          process.sleep(A_WHILE);
          assertThat(exits).containsExactly(0);
          assertThat(savedThatNoneIsLeft(0)).isFalse();
        });
  }

  @Test
  void theEndIsSavedThoughItHadSeemedNearBefore() throws Exception {
    simulation.run(
        () -> {
          Task first = attempt();
          String node = yarn.nodeOf("tabletserver-1");
          yarn.listener.shutDown("another attempt has begun");
          process.await(first.ended());
          yarn.forget(node);
          attempt();
          master.stop(Optional.empty());
          yarn.whenUnregistered =
              () -> {
                throw new IOException("the ResourceManager does not answer");
              };
          process.sleep(A_WHILE);
          yarn.end("tabletserver-2", 0);
          process.sleep(ApplicationState.EXPECTED_WAIT.plus(A_WHILE));
          assertThat(calls())
              .as("the other was waited for")
              .contains(
                  "unregister SUCCEEDED stopped as asked; 1 tablet server ended without being"
                      + " drained");
          yarn.comesBack(node);
          process.sleep(A_WHILE);
          assertThat(calls()).contains("drain tabletserver-1");
          List<Boolean> saved = new ArrayList<>();
          yarn.whenUnregistered = () -> saved.add(savedThatNoneIsLeft(2));
          yarn.end("tabletserver-1", 137);
          process.sleep(A_WHILE);
          assertThat(exits).containsExactly(2, 0);
          assertThat(saved).containsExactly(true);
        });
  }

  /** Another attempt, on a machine whose clock is off by {@code skew}. */
  private void attemptWithSkew(Task first, Duration skew) throws Exception {
    yarn.listener.shutDown("another attempt has begun");
    process.await(first.ended());
    process.setSkew(skew);
    calls();
    attempt();
  }

  private void aNodesTimeIsKept(Duration skew) throws Exception {
    simulation.run(
        () -> {
          Task first = attempt();
          yarn.full = true;
          yarn.decommission(yarn.nodeOf("tabletserver-1"), 2 * 3600);
          process.sleep(Duration.ofMinutes(40));
          attemptWithSkew(first, skew);
          process.sleep(Duration.ofMinutes(50));
          assertThat(calls()).as("119 min are for another").doesNotContain("drain tabletserver-1");
          process.sleep(Duration.ofMinutes(31));
          assertThat(calls()).contains("drain tabletserver-1");
        });
  }

  @Test
  void theTimeOfANodeThatLeavesIsKeptByAClockThatIsBehind() throws Exception {
    aNodesTimeIsKept(Duration.ofHours(-2));
  }

  @Test
  void theTimeOfANodeThatLeavesIsKeptByAClockThatIsAhead() throws Exception {
    aNodesTimeIsKept(Duration.ofHours(2));
  }

  private void theTimeToStopIsKept(Duration skew) throws Exception {
    simulation.run(
        () -> {
          Task first = attempt();
          master.stop(Optional.of(Duration.ofMinutes(60)));
          process.sleep(Duration.ofMinutes(5));
          attemptWithSkew(first, skew);
          process.sleep(Duration.ofMinutes(20));
          assertThat(calls()).doesNotContain("stop tabletserver-1", "stop tabletserver-2");
          process.sleep(Duration.ofMinutes(40));
          assertThat(calls()).contains("stop tabletserver-1", "stop tabletserver-2");
        });
  }

  @Test
  void theTimeToStopIsKeptByAClockThatIsBehind() throws Exception {
    theTimeToStopIsKept(Duration.ofHours(-2));
  }

  @Test
  void theTimeToStopIsKeptByAClockThatIsAhead() throws Exception {
    theTimeToStopIsKept(Duration.ofHours(2));
  }
}
