package io.stele.yarn;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.config.Keys;
import io.stele.files.HdfsOutage;
import io.stele.lock.LockPaths;
import io.stele.lock.LockService;
import io.stele.model.Bytes;
import io.stele.runtime.Task;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.yarn.api.records.ContainerExitStatus;
import org.junit.jupiter.api.Test;

/** The ApplicationMaster with a YARN that does as it is asked, on virtual time. */
final class ApplicationMasterTest extends ApplicationMasterFixture {
  @Test
  void startsWhatIsWantedAndSaysSo() throws Exception {
    simulation.run(
        () -> {
          attempt();
          assertThat(calls())
              .containsExactlyInAnyOrder(
                  "register",
                  "request master-1",
                  "request tabletserver-1",
                  "request tabletserver-2",
                  "start master-1",
                  "start tabletserver-1",
                  "start tabletserver-2")
              .startsWith("register");
          assertThat(states())
              .containsExactly(
                  "master-1 RUNNING", "tabletserver-1 RUNNING", "tabletserver-2 RUNNING");
          assertThat(yarn.nodeOf("tabletserver-1")).isNotEqualTo(yarn.nodeOf("tabletserver-2"));
          assertThat(exits).isEmpty();
        });
  }

  @Test
  void aDeadServerIsToldToTheMasterAndReplaced() throws Exception {
    simulation.run(
        () -> {
          attempt();
          calls();
          String node = yarn.nodeOf("tabletserver-1");
          yarn.end("tabletserver-1", 137);
          process.sleep(A_WHILE);
          assertThat(calls())
              .containsExactlyInAnyOrder(
                  "exited tabletserver-1", "request tabletserver-1", "start tabletserver-1");
          assertThat(yarn.nodeOf("tabletserver-1")).as("its files lie there").isEqualTo(node);
          assertThat(restarts("tabletserver-1")).isEqualTo(1);
          yarn.end("master-1", 1);
          process.sleep(A_WHILE);
          assertThat(calls())
              .containsExactlyInAnyOrder("exited master-1", "request master-1", "start master-1");
        });
  }

  @Test
  void aWallClockThatIsSetBackDelaysNothing() throws Exception {
    simulation.run(
        () -> {
          attempt();
          yarn.end("tabletserver-1", 137);
          process.sleep(A_WHILE);
          calls();
          yarn.end("tabletserver-1", 137); // The second time it is restarted after a pause.
          process.sleep(Duration.ofMillis(100));
          process.setSkew(Duration.ofHours(-1));
          process.sleep(A_WHILE);
          assertThat(calls()).contains("start tabletserver-1");
          assertThat(states()).contains("tabletserver-1 RUNNING");
        });
  }

  @Test
  void aFullQueueIsWaitedForAndTheStatusSaysSo() throws Exception {
    simulation.run(
        () -> {
          attempt();
          calls();
          yarn.full = true;
          yarn.end("tabletserver-1", 137);
          process.sleep(Duration.ofMinutes(5));
          assertThat(states()).contains("tabletserver-1 ASKED", "tabletserver-2 RUNNING");
          assertThat(noteOf("tabletserver-1"))
              .contains(
                  "asked YARN 300 s ago", "on any node", "its queue has only 100 MB left for it");
          assertThat(calls()).doesNotContain("start tabletserver-1");
          yarn.makeRoom();
          process.sleep(A_WHILE);
          assertThat(calls()).contains("start tabletserver-1");
          assertThat(states()).contains("tabletserver-1 RUNNING");
        });
  }

  @Test
  void aSlotThatYarnRefusesAContainerForIsAskedForAgainWithPausesAndOthersGoOn() throws Exception {
    simulation.run(
        () -> {
          yarn.refused.add("tabletserver-2");
          attempt();
          assertThat(states())
              .containsExactly(
                  "master-1 RUNNING", "tabletserver-1 RUNNING", "tabletserver-2 WAITING");
          assertThat(noteOf("tabletserver-2")).contains("YARN refuses", "larger than any node");
          calls();
          process.sleep(Duration.ofMinutes(5));
          assertThat(exits).isEmpty();
          List<String> asked = calls();
          assertThat(asked).containsOnly("request tabletserver-2");
          assertThat(asked).hasSizeBetween(5, 10);
          yarn.end("tabletserver-1", 137);
          process.sleep(A_WHILE);
          assertThat(states()).contains("tabletserver-1 RUNNING");
          yarn.refused.clear();
          process.sleep(A_WHILE.multipliedBy(2));
          assertThat(states()).contains("tabletserver-2 RUNNING");
          assertThat(noteOf("tabletserver-2")).isEmpty();
        });
  }

  @Test
  void aStepThatFailsDoesNotKeepOthersFromBeingTaken() throws Exception {
    simulation.run(
        () -> {
          yarn.cannotBeRequested.add("master-1");
          attempt();
          assertThat(yarn.runningSlots()).containsExactly("tabletserver-1", "tabletserver-2");
          assertThat(states()).contains("master-1 WAITING", "tabletserver-1 RUNNING");
          yarn.cannotBeRequested.clear();
          process.sleep(A_WHILE);
          assertThat(yarn.runningSlots()).contains("master-1");
        });
  }

  @Test
  void aPreemptedServerCountsAsLostNotAsSeenToEnd() throws Exception {
    simulation.run(
        () -> {
          attempt();
          calls();
          yarn.end("tabletserver-1", ContainerExitStatus.PREEMPTED);
          process.sleep(A_WHILE);
          assertThat(calls())
              .contains("lost tabletserver-1", "start tabletserver-1")
              .doesNotContain("exited tabletserver-1");
        });
  }

  @Test
  void anAttemptThatIsNotAnsweredDoesNothingAndAnotherMayHaveBegun() throws Exception {
    simulation.run(
        () -> {
          attempt();
          calls();
          yarn.silent = true;
          // As much as that after its last answer it may have hung.
          process.sleep(YarnSettings.of(conf).limits().answerAge());
          master.flex(ComponentKind.TABLET_SERVER, 1);
          yarn.end("master-1", 137);
          process.sleep(A_WHILE);
          assertThat(calls()).containsExactly("exited master-1");
          yarn.silent = false;
          process.sleep(A_WHILE);
          assertThat(calls())
              .contains("drain tabletserver-2", "request master-1", "start master-1");
        });
  }

  @Test
  void whereAnotherApplicationHasTheClusterItEndsAndSaysWhich() throws Exception {
    simulation.run(
        () -> {
          yarn.fates.put("application_1_0009", ClusterClaim.Fate.ALIVE);
          try (LockService locks = store.connect()) {
            locks.create(LockPaths.APPLICATION, Bytes.of("application_1_0009"));
          }
          attempt();
          assertThat(exits).containsExactly(1);
          assertThat(calls())
              .containsExactly(
                  "register",
                  "unregister FAILED another application already runs the cluster:"
                      + " application_1_0009");
          assertThat(directory).as("no state was written").isEmptyDirectory();
        });
  }

  @Test
  void withoutALockServiceANewApplicationAsksForNothing() throws Exception {
    simulation.run(
        () -> {
          lockServiceAway = true;
          attempt();
          assertThat(calls()).containsExactly("register");
          assertThat(connects).as("not without a pause").isBetween(5, 21);
          assertThat(states())
              .containsExactly(
                  "master-1 WAITING", "tabletserver-1 WAITING", "tabletserver-2 WAITING");
          assertThat(noteOf("tabletserver-2")).contains("ZooKeeper", NO_LOCK_SERVICE);
          CompletableFuture<Void> answer = master.flex(ComponentKind.TABLET_SERVER, 3);
          process.sleep(Duration.ofSeconds(2));
          assertThat(answer)
              .isCompletedExceptionally()
              .isNotCancelled()
              .failsWithin(Duration.ZERO)
              .withThrowableThat()
              .withMessageContaining(NO_LOCK_SERVICE);
          master.flex(ComponentKind.TABLET_SERVER, 2);
          lockServiceAway = false;
          process.sleep(A_WHILE);
          assertThat(noteOf("tabletserver-2")).isEmpty();
          assertThat(yarn.runningSlots())
              .containsExactly("master-1", "tabletserver-1", "tabletserver-2");
        });
  }

  @Test
  void stopsInOrderAndEnds() throws Exception {
    simulation.run(
        () -> {
          attempt();
          calls();
          master.stop(Optional.empty());
          process.sleep(A_WHILE);
          yarn.runningSlots().forEach(slot -> yarn.end(slot, 0));
          process.sleep(A_WHILE);
          assertThat(calls())
              .containsSubsequence(
                  "stop master-1", "drain tabletserver-1", "unregister SUCCEEDED stopped as asked");
          assertThat(exits).containsExactly(0);
        });
  }

  @Test
  void serversHaveTheOperatorsTimeToDrainAndThoseThatDoNotAreCounted() throws Exception {
    simulation.run(
        () -> {
          Task first = attempt();
          master.stop(Optional.of(Duration.ofMinutes(10)));
          process.sleep(A_WHILE);
          assertThat(yarn.rankTimeout).isBetween(Duration.ofSeconds(280), Duration.ofSeconds(300));
          process.sleep(Duration.ofMinutes(4));
          assertThat(calls()).doesNotContain("stop tabletserver-1", "stop tabletserver-2");
          yarn.listener.shutDown("another attempt has begun"); // It keeps the operator's time.
          process.await(first.ended());
          attempt();
          yarn.end("tabletserver-1", 0);
          process.sleep(Duration.ofMinutes(4));
          assertThat(calls()).doesNotContain("stop tabletserver-2");
          process.sleep(Duration.ofMinutes(2));
          assertThat(calls())
              .contains("stop tabletserver-2")
              .endsWith(
                  "unregister SUCCEEDED stopped as asked; 1 tablet server ended without being"
                      + " drained");
        });
  }

  @Test
  void anApplicationThatNeverCameUpGivesUpWithTheLastWords() throws Exception {
    conf.set(Keys.YARN_TABLETSERVER_COUNT.name(), "1");
    conf.set(Keys.YARN_FAILURES_MAX.name(), "2");
    simulation.run(
        () -> {
          attempt();
          yarn.end("tabletserver-1", 4);
          process.sleep(A_WHILE);
          yarn.end("tabletserver-1", 4);
          process.sleep(A_WHILE);
          assertThat(exits).containsExactly(1);
          assertThat(calls()).anyMatch(call -> call.startsWith("unregister FAILED tabletserver-1"));
        });
  }

  @Test
  void aServerThatHangsIsStoppedAndAnotherStarted() throws Exception {
    simulation.run(
        () -> {
          attempt();
          calls();
          yarn.stopTakes = Duration.ofSeconds(20);
          yarn.withoutLock.add("tabletserver-1");
          process.sleep(Duration.ofSeconds(50));
          assertThat(calls()).isEmpty();
          assertThat(states()).contains("tabletserver-1 LOST");
          assertThat(noteOf("tabletserver-1")).contains("has had no lock for");
          yarn.locksAway = true; // What is not known does not count.
          process.sleep(Duration.ofMinutes(10));
          assertThat(calls()).isEmpty();
          yarn.locksAway = false;
          process.sleep(Duration.ofSeconds(100));
          assertThat(calls())
              .containsSubsequence(
                  "stop tabletserver-1", "exited tabletserver-1", "start tabletserver-1");
          yarn.withoutLock.clear();
          process.sleep(A_WHILE);
          assertThat(states()).contains("tabletserver-1 RUNNING", "tabletserver-2 RUNNING");
          assertThat(restarts("tabletserver-1")).isEqualTo(1);
          assertThat(noteOf("tabletserver-1")).contains("it had lost its lock");
        });
  }

  @Test
  void aMasterThatHangsIsStoppedAndAnotherStarted() throws Exception {
    simulation.run(
        () -> {
          attempt();
          process.sleep(HeldContainer.MASTER_START_WAIT);
          calls();
          yarn.withoutLock.add("master-1");
          process.sleep(Duration.ofSeconds(50));
          assertThat(calls()).isEmpty();
          assertThat(states()).contains("master-1 LOST", "tabletserver-1 RUNNING");
          assertThat(noteOf("master-1")).contains("has had no lock for");
          yarn.locksAway = true; // What is not known does not count.
          process.sleep(Duration.ofMinutes(10));
          assertThat(calls()).isEmpty();
          yarn.locksAway = false;
          process.sleep(Duration.ofSeconds(60));
          assertThat(calls())
              .containsExactlyInAnyOrder(
                  "stop master-1", "exited master-1", "request master-1", "start master-1");
          process.sleep(Duration.ofMinutes(9));
          assertThat(calls()).as("it has yet to take the lock").isEmpty();
          yarn.withoutLock.clear();
          process.sleep(A_WHILE);
          assertThat(states()).contains("master-1 RUNNING");
          assertThat(restarts("master-1")).isEqualTo(1);
          assertThat(noteOf("master-1")).contains("no master had the lock");
        });
  }

  @Test
  void aMasterWhoseLockIsFreeForAMomentOrThatHasJustStartedGoesOn() throws Exception {
    simulation.run(
        () -> {
          attempt();
          calls();
          yarn.withoutLock.add("master-1");
          process.sleep(Duration.ofSeconds(100));
          assertThat(calls()).as("another may have had the lock while it started").isEmpty();
          for (int i = 0; i < 5; i++) {
            yarn.withoutLock.clear();
            process.sleep(A_WHILE);
            yarn.withoutLock.add("master-1");
            process.sleep(Duration.ofSeconds(50));
          }
          assertThat(calls()).isEmpty();
        });
  }

  @Test
  void aServerThatWasDrainedIsReplacedAtOnceHoweverOften() throws Exception {
    simulation.run(
        () -> {
          attempt();
          for (int i = 0; i < 8; i++) {
            calls();
            yarn.end("tabletserver-1", 0);
            process.sleep(Duration.ofSeconds(5));
            assertThat(calls()).contains("start tabletserver-1");
          }
        });
  }

  @Test
  void aMasterThatHungBeforeTheApplicationMasterRestartedIsStopped() throws Exception {
    simulation.run(
        () -> {
          Task first = attempt();
          process.sleep(HeldContainer.MASTER_START_WAIT);
          yarn.listener.shutDown("another attempt has begun");
          process.await(first.ended());
          yarn.withoutLock.add("master-1");
          attempt();
          calls();
          process.sleep(Duration.ofSeconds(80));
          assertThat(calls()).contains("stop master-1");
        });
  }

  @Test
  void aServerThatHungBeforeTheApplicationMasterRestartedIsStopped() throws Exception {
    simulation.run(
        () -> {
          Task first = attempt();
          process.sleep(A_WHILE);
          yarn.listener.shutDown("another attempt has begun");
          process.await(first.ended());
          yarn.withoutLock.add("tabletserver-1");
          attempt();
          calls();
          process.sleep(Duration.ofSeconds(100));
          assertThat(calls()).contains("stop tabletserver-1");
        });
  }

  @Test
  void aProcessThatHangsWhileItStartsIsReplaced() throws Exception {
    simulation.run(
        () -> {
          yarn.withoutLock.addAll(List.of("master-1", "tabletserver-1"));
          attempt();
          yarn.locksAway = true; // What is not known does not count.
          process.sleep(HeldContainer.START_WAIT);
          yarn.locksAway = false;
          process.sleep(HeldContainer.START_WAIT.minusMinutes(1));
          calls();
          process.sleep(Duration.ofMinutes(2));
          assertThat(calls())
              .containsSubsequence("stop master-1", "exited master-1", "start master-1")
              .containsSubsequence(
                  "stop tabletserver-1", "exited tabletserver-1", "start tabletserver-1");
          assertThat(noteOf("tabletserver-1")).contains("had not started up within 10 min");
          assertThat(restarts("tabletserver-1")).isEqualTo(1);
          String node = yarn.nodeOf("tabletserver-1");
          process.sleep(HeldContainer.START_WAIT.plusMinutes(1));
          assertThat(restarts("tabletserver-1")).isEqualTo(2);
          assertThat(yarn.nodeOf("tabletserver-1")).as("it failed twice").isNotEqualTo(node);
        });
  }

  @Test
  void theTimeToStartUpGoesOnThoughTheApplicationMasterRestarts() throws Exception {
    simulation.run(
        () -> {
          yarn.withoutLock.add("tabletserver-1");
          Task attempt = attempt();
          for (int i = 0; i < 2; i++) {
            process.sleep(Duration.ofMinutes(3));
            yarn.listener.shutDown("another attempt has begun");
            process.await(attempt.ended());
            attempt = attempt();
          }
          calls();
          process.sleep(Duration.ofMinutes(2));
          assertThat(calls()).doesNotContain("stop tabletserver-1");
          process.sleep(Duration.ofMinutes(3));
          assertThat(calls())
              .containsSubsequence("stop tabletserver-1", "start tabletserver-1")
              .doesNotContain("stop tabletserver-2");
          assertThat(noteOf("tabletserver-1")).contains("had not started up within 10 min");
        });
  }

  @Test
  void aSlotThatFailsAgainAndAgainIsPausedThoughTheApplicationMasterRestarts() throws Exception {
    simulation.run(
        () -> {
          Task first = attempt();
          process.sleep(SlotHistory.PROVEN_AFTER);
          yarn.starting = true;
          for (int i = 0; i < 7; i++) {
            yarn.end("tabletserver-1", 1);
            process.sleep(Duration.ofSeconds(35));
          }
          assertThat(failures("tabletserver-1")).isEqualTo(7);
          yarn.end("tabletserver-1", 1);
          process.sleep(Duration.ofSeconds(5));
          yarn.listener.shutDown("another attempt has begun");
          process.await(first.ended());
          calls();
          attempt();
          assertThat(calls()).as("it waits for a minute").doesNotContain("request tabletserver-1");
          assertThat(states()).contains("tabletserver-1 WAITING");
          assertThat(failures("tabletserver-1")).isEqualTo(8);
          assertThat(noteOf("tabletserver-1")).contains("exit code 1");
          process.sleep(Duration.ofSeconds(40));
          assertThat(calls()).contains("start tabletserver-1");
        });
  }

  @Test
  void aLockServiceThatIsAwayForAMinuteIsSaidInTheStatus() throws Exception {
    simulation.run(
        () -> {
          attempt();
          yarn.locksAway = true;
          process.sleep(Duration.ofSeconds(50));
          assertThat(noteOf("master-1")).isEmpty();
          process.sleep(Duration.ofMinutes(1));
          for (String slot : List.of("master-1", "tabletserver-1", "tabletserver-2")) {
            assertThat(noteOf(slot)).contains("ZooKeeper has not answered", "no ZooKeeper answers");
          }
          yarn.locksAway = false;
          process.sleep(A_WHILE);
          assertThat(noteOf("master-1")).isEmpty();
        });
  }

  @Test
  void aServerWhoseLockIsBackInTimeGoesOn() throws Exception {
    simulation.run(
        () -> {
          attempt();
          calls();
          for (int i = 0; i < 5; i++) {
            yarn.withoutLock.add("tabletserver-1");
            process.sleep(Duration.ofSeconds(50));
            yarn.withoutLock.clear();
            process.sleep(A_WHILE);
          }
          assertThat(calls()).isEmpty();
        });
  }

  /** Going back from a version whose servers never come up. */
  @Test
  void outdatedServersThatNeverCameUpAreReplaced() throws Exception {
    simulation.run(
        () -> {
          attempt();
          Deployment bad = new Deployment(new Path("/new.zip"), new Path("/conf.xml"));
          master.deploy(bad);
          process.sleep(A_WHILE);
          yarn.withoutLock.add("tabletserver-1");
          yarn.end("tabletserver-1", 0); // Drained, for the upgrade.
          process.sleep(Duration.ofMinutes(5));
          assertThat(states()).contains("tabletserver-1 STARTING");
          calls();
          master.deploy(FakeYarn.SUBMITTED);
          process.sleep(Duration.ofSeconds(50));
          assertThat(calls()).containsSubsequence("stop tabletserver-1", "start tabletserver-1");
        });
  }

  @Test
  void mastersAreUpgradedThoughYarnRefusesAContainerForATabletServer() throws Exception {
    simulation.run(
        () -> {
          yarn.refused.add("tabletserver-2");
          attempt();
          process.sleep(ApplicationSnapshot.STANDBY_AFTER);
          master.deploy(new Deployment(new Path("/new.zip"), new Path("/conf.xml")));
          process.sleep(A_WHILE);
          calls();
          yarn.end("tabletserver-1", 0); // Drained, for the upgrade.
          process.sleep(A_WHILE);
          assertThat(calls())
              .containsSubsequence(
                  "start tabletserver-1 upgraded", "stop master-1", "start master-1 upgraded");
        });
  }

  @Test
  void nothingIsChangedOnceAllIsToStop() throws Exception {
    simulation.run(
        () -> {
          attempt();
          assertThat(master.flex(ComponentKind.TABLET_SERVER, 3)).isNotNull();
          process.sleep(A_WHILE);
          master.stop(Optional.empty());
          process.sleep(A_WHILE);
          CompletableFuture<Void> refused = master.flex(ComponentKind.TABLET_SERVER, 4);
          process.sleep(A_WHILE);
          assertThat(refused).isCompletedExceptionally();
        });
  }

  @Test
  void aProcessThatRunsForLongAndNeverServesHasNotKeptRunning() throws Exception {
    conf.set(Keys.YARN_FAILURES_MAX.name(), "2");
    simulation.run(
        () -> {
          yarn.starting = true; // As a server does that waits for HDFS.
          attempt();
          process.sleep(HdfsOutage.PATIENCE);
          yarn.end("tabletserver-1", 1);
          process.sleep(A_WHILE);
          assertThat(exits).isEmpty();
          process.sleep(HdfsOutage.PATIENCE);
          yarn.end("tabletserver-1", 1);
          process.sleep(A_WHILE);
          assertThat(exits).containsExactly(1);
        });
  }
}
