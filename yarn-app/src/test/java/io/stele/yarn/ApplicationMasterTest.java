package io.stele.yarn;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.config.Keys;
import io.stele.files.HdfsOutage;
import io.stele.lock.LockPaths;
import io.stele.lock.LockService;
import io.stele.model.Bytes;
import io.stele.model.CorruptionException;
import io.stele.runtime.Task;
import io.stele.sim.MemoryLockStore;
import io.stele.sim.SimulatedProcess;
import io.stele.sim.Simulation;
import io.stele.wire.application.ApplicationProtos.ApplicationStateProto;
import io.stele.wire.application.ApplicationProtos.ComponentProto;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.api.records.ContainerExitStatus;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The ApplicationMaster with a YARN that does as it is asked, on virtual time. */
final class ApplicationMasterTest {
  private static final Duration A_WHILE = Duration.ofSeconds(20);

  private final Simulation simulation = new Simulation(1, 1_000_000);
  private final SimulatedProcess process = simulation.process("application-master");
  private final FakeYarn yarn = new FakeYarn(process);
  private final MemoryLockStore store = new MemoryLockStore();
  private final Configuration conf = new Configuration();
  private final List<Integer> exits = new ArrayList<>();
  private ApplicationMaster master;
  private boolean lockServiceAway;
  private int connects;
  private int attempts;

  @TempDir private Path directory;

  @BeforeEach
  void settings() {
    conf.set(Keys.YARN_TABLETSERVER_COUNT.name(), "2");
  }

  private LockService connect() throws IOException {
    connects++;
    if (lockServiceAway) {
      throw new IOException("no ZooKeeper answers");
    }
    return store.connect();
  }

  /** Begins an attempt and lets it do what there is to do. */
  private Task attempt() throws Exception {
    StateFile stateFile =
        new StateFile(
            conf,
            new org.apache.hadoop.fs.Path(directory.resolve("state").toUri()),
            FakeYarn.attempt(++attempts));
    master =
        new ApplicationMaster(
            FakeYarn.APPLICATION.toString(),
            YarnSettings.of(conf),
            FakeYarn.SUBMITTED,
            listener -> {
              yarn.listener = listener;
              return yarn;
            },
            new ApplicationMaster.Environment(
                process, yarn, yarn, yarn, stateFile, new LockConnection(process, this::connect)));
    ApplicationMaster attempt = master;
    Task task = process.start("application-master", () -> exits.add(run(attempt)));
    process.sleep(A_WHILE);
    return task;
  }

  private static int run(ApplicationMaster attempt) {
    try {
      return attempt.run("host", 1, "http://host:2");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  /** What was called since the last time. */
  private List<String> calls() {
    List<String> calls = List.copyOf(yarn.calls);
    yarn.calls.clear();
    return calls;
  }

  private List<String> states() {
    return master.status().getComponentsList().stream()
        .map(component -> component.getId() + " " + component.getState())
        .toList();
  }

  private String noteOf(String slot) {
    return master.status().getComponentsList().stream()
        .filter(component -> component.getId().equals(slot))
        .map(ComponentProto::getNote)
        .collect(Collectors.joining("\n"));
  }

  private int restarts(String slot) {
    return master.status().getComponentsList().stream()
        .filter(component -> component.getId().equals(slot))
        .mapToInt(ComponentProto::getRestarts)
        .sum();
  }

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
  void theNextAttemptTouchesNoServerEvenWithoutALockService() throws Exception {
    simulation.run(
        () -> {
          Task first = attempt();
          yarn.listener.dismissed("another attempt has begun");
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
  void aServerThatCannotBeDrainedIsStopped() throws Exception {
    simulation.run(
        () -> {
          attempt();
          calls();
          yarn.drainFails = true;
          master.flex(ComponentKind.TABLET_SERVER, 1);
          process.sleep(A_WHILE);
          assertThat(calls())
              .containsExactly(
                  "drain tabletserver-2", "stop tabletserver-2", "exited tabletserver-2");
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
          yarn.drainFails = true; // As it is about to end.
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
          process.sleep(A_WHILE);
          assertThat(calls()).contains("stop tabletserver-2").endsWith("exited tabletserver-2");
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
          yarn.end("tabletserver-1", 0);
          yarn.makeRoom();
          process.sleep(A_WHILE);
          assertThat(calls()).contains("start tabletserver-1");
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

  @Test
  void aServerWhoseContainerYarnCallsBackGivesItsTabletsAwayAtOnce() throws Exception {
    simulation.run(
        () -> {
          attempt();
          calls();
          yarn.callBack("tabletserver-1");
          yarn.callBack("tabletserver-1"); // YARN says it in each answer.
          process.sleep(A_WHILE);
          assertThat(calls()).containsOnly("drain tabletserver-1");
          assertThat(noteOf("tabletserver-1")).contains("YARN calls its container back");
          yarn.full = true;
          yarn.end("tabletserver-1", 0);
          process.sleep(A_WHILE);
          assertThat(calls()).contains("request tabletserver-1");
          assertThat(restarts("tabletserver-1")).isEqualTo(1);
          yarn.makeRoom();
          process.sleep(A_WHILE);
          assertThat(noteOf("tabletserver-1")).contains("because YARN called its container back");
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
          // As much as that after its last answer it may have stood still.
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
  void whatAnEarlierAttemptWritesAfterTheNextHasBegunIsNeverRead() throws Exception {
    org.apache.hadoop.fs.Path prefix =
        new org.apache.hadoop.fs.Path(directory.resolve("state").toUri());
    StateFile first = new StateFile(conf, prefix, FakeYarn.attempt(1));
    StateFile second = new StateFile(conf, prefix, FakeYarn.attempt(2));
    assertThat(second.read()).isEmpty();
    first.write(stateNamed("first"));
    assertThat(second.read()).contains(stateNamed("first"));
    second.write(stateNamed("second"));
    first.write(stateNamed("stale"));
    assertThat(new StateFile(conf, prefix, FakeYarn.attempt(3)).read())
        .contains(stateNamed("second"));
    assertThat(new StateFile(conf, prefix, FakeYarn.attempt(1)).read()).isEmpty();
  }

  @Test
  void aStateFileThatIsDamagedIsNamed() throws Exception {
    Files.write(directory.resolve("state." + FakeYarn.attempt(1)), new byte[] {-1, -1, -1});
    org.apache.hadoop.fs.Path prefix =
        new org.apache.hadoop.fs.Path(directory.resolve("state").toUri());
    assertThatThrownBy(() -> new StateFile(conf, prefix, FakeYarn.attempt(2)).read())
        .isInstanceOf(CorruptionException.class)
        .hasMessageContaining("state." + FakeYarn.attempt(1));
  }

  private static ApplicationStateProto stateNamed(String application) {
    return ApplicationStateProto.newBuilder().setApplicationId(application).build();
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
                  "unregister FAILED another application already runs the cluster: application_1_0009");
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
          lockServiceAway = false;
          process.sleep(A_WHILE);
          assertThat(yarn.runningSlots())
              .containsExactly("master-1", "tabletserver-1", "tabletserver-2");
        });
  }

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

  @Test
  void anUpgradeGoesOnInTheNextAttemptAndTakesMastersLast() throws Exception {
    Deployment next = new Deployment(hadoopPath("/new.zip"), hadoopPath("/conf.xml"));
    simulation.run(
        () -> {
          Task first = attempt();
          calls();
          CompletableFuture<Void> refused = master.deploy(FakeYarn.UNUSABLE);
          process.sleep(A_WHILE);
          assertThat(refused).isCompletedExceptionally();
          assertThat(outdated()).isEmpty();
          CompletableFuture<Void> deployed = master.deploy(next);
          process.sleep(A_WHILE);
          assertThat(deployed).isCompleted();
          assertThat(calls()).as("tablet servers end only if they are asked to").isEmpty();
          assertThat(outdated()).containsExactly("master-1", "tabletserver-1", "tabletserver-2");
          yarn.end("tabletserver-1", 0);
          process.sleep(A_WHILE);
          assertThat(calls())
              .containsExactlyInAnyOrder(
                  "exited tabletserver-1",
                  "request tabletserver-1",
                  "start tabletserver-1 upgraded");
          assertThat(restarts("tabletserver-1")).as("it was asked to end").isZero();

          yarn.listener.dismissed("another attempt has begun");
          process.await(first.ended());
          attempt();
          assertThat(outdated()).containsExactly("master-1", "tabletserver-2");
          master.deploy(next); // Again.
          process.sleep(A_WHILE);
          assertThat(outdated()).containsExactly("master-1", "tabletserver-2");
          calls();
          yarn.end("tabletserver-2", 0);
          process.sleep(A_WHILE);
          process.sleep(A_WHILE);
          List<String> calls = calls();
          assertThat(calls)
              .containsExactlyInAnyOrder(
                  "exited tabletserver-2",
                  "request tabletserver-2",
                  "start tabletserver-2 upgraded",
                  "stop master-1",
                  "exited master-1",
                  "request master-1",
                  "start master-1 upgraded")
              .containsSubsequence(
                  "start tabletserver-2 upgraded", "stop master-1", "start master-1 upgraded");
          assertThat(outdated()).isEmpty();
        });
  }

  private static org.apache.hadoop.fs.Path hadoopPath(String path) {
    return new org.apache.hadoop.fs.Path(path);
  }

  private List<String> outdated() {
    return master.status().getComponentsList().stream()
        .filter(ComponentProto::getOutdated)
        .map(ComponentProto::getId)
        .toList();
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
  void stopsInOrderAndEnds() throws Exception {
    simulation.run(
        () -> {
          attempt();
          calls();
          master.stop();
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
  void anApplicationThatNeverCameUpGivesUpWithTheLastWords() throws Exception {
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
}
