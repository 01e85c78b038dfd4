package io.stele.yarn;

import static io.stele.yarn.Components.await;
import static io.stele.yarn.Components.component;
import static io.stele.yarn.Components.kill;
import static io.stele.yarn.Components.nodesOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.client.ClusterJob;
import io.stele.master.Applications;
import io.stele.metadata.JobNodes;
import io.stele.model.SteleException;
import io.stele.runtime.SystemRuntime;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.apache.curator.test.TestingServer;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.net.NetUtils;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The application on a real YARN of two nodes and a real HDFS, with stand-ins for the servers. */
final class YarnApplicationIT {
  @TempDir private static Path directory;

  private static TestingServer zooKeeper;
  private static TestCluster cluster;
  private static Configuration conf;
  private static Path jar;

  @BeforeAll
  static void startHadoop() throws Exception {
    zooKeeper = new TestingServer();
    cluster = new TestCluster(directory);
    conf = cluster.conf(zooKeeper);
    jar = cluster.emptyJar();
  }

  @AfterAll
  static void stopHadoop() throws IOException {
    try {
      if (cluster != null) {
        cluster.close();
      }
    } finally {
      zooKeeper.close();
    }
  }

  @AfterEach
  void stopApplication() throws IOException {
    try (YarnSubmitter submitter = YarnSubmitter.connect(conf)) {
      submitter.stop(Duration.ofSeconds(20), line -> {});
    }
  }

  @Test
  void keepsComponentsRunningThroughTheirDeathAndItsOwnUntilStopped() throws Exception {
    try (YarnSubmitter submitter = YarnSubmitter.connect(conf)) {
      long begin = System.nanoTime();
      ApplicationId id = submitter.start(TestCluster.placeholders(jar), YarnApplicationIT::report);
      reportTime("start to all running", begin);
      ApplicationStatus started = submitter.status().orElseThrow();
      assertThat(started.id()).isEqualTo(id);
      assertThat(started.complete()).isTrue();
      assertThat(nodesOf(started, "tabletserver")).hasSize(2);
      assertThat(page(started.trackingUrl())).contains("tabletserver-2", "RUNNING");
      Map<String, ProcessHandle> processes = Components.processes(cluster, submitter::status);
      assertThat(processes).containsOnlyKeys("master-1", "tabletserver-1", "tabletserver-2");

      // A worker is killed: another one takes its place, on its node; nobody else notices.
      begin = System.nanoTime();
      String nodeBefore = component(started, "tabletserver-1").node();
      kill(processes.get("tabletserver-1"));
      ApplicationStatus restarted = awaitRestart(submitter, "tabletserver-1");
      reportTime("kill -9 of a worker to its successor running", begin);
      assertThat(component(restarted, "tabletserver-1").node()).isEqualTo(nodeBefore);
      Map<String, ProcessHandle> afterRestart = Components.processes(cluster, submitter::status);
      assertThat(afterRestart.get("tabletserver-2")).isEqualTo(processes.get("tabletserver-2"));
      assertThat(afterRestart.get("tabletserver-1")).isNotEqualTo(processes.get("tabletserver-1"));

      // YARN itself ends a container of a dead attempt whose node has not yet reported it as
      // running.
      String newest = component(restarted, "tabletserver-1").container();
      await(
          "YARN to know that it runs", () -> Optional.of(newest).filter(cluster::isRunningToYarn));

      // The ApplicationMaster is killed: the next attempt takes all processes over.
      begin = System.nanoTime();
      ProcessHandle first = applicationMaster();
      kill(first);
      ApplicationStatus recovered =
          await(
              "the next ApplicationMaster",
              () ->
                  submitter
                      .status()
                      .filter(s -> s.complete() && !applicationMaster().equals(first)));
      reportTime("kill -9 of the ApplicationMaster to the next answering", begin);
      assertThat(Components.processes(cluster, submitter::status)).isEqualTo(afterRestart);
      assertThat(component(recovered, "tabletserver-1").restarts()).isEqualTo(1);

      // What the attempt before it started, it restarts and stops, too.
      begin = System.nanoTime();
      kill(afterRestart.get("tabletserver-2"));
      awaitRestart(submitter, "tabletserver-2");
      reportTime("kill -9 of an inherited worker to its successor running", begin);

      begin = System.nanoTime();
      assertThat(submitter.stop(Duration.ofSeconds(30), YarnApplicationIT::report)).isPresent();
      reportTime("stop", begin);
      assertThat(submitter.status(id).state()).isEqualTo("FINISHED");
      assertThat(submitter.status()).isEmpty();
      await(
          "the end of all processes",
          () -> Optional.of(cluster.processes()).filter(Collection::isEmpty));
      assertThat(submitter.stop(Duration.ofSeconds(30), YarnApplicationIT::report)).isEmpty();
    }
  }

  private static ApplicationStatus awaitRestart(YarnSubmitter submitter, String component)
      throws Exception {
    return await(
        "another in its place",
        () ->
            submitter
                .status()
                .filter(s -> s.complete() && component(s, component).restarts() == 1));
  }

  @Test
  void growsAndShrinksAsAsked() throws Exception {
    try (YarnSubmitter submitter = YarnSubmitter.connect(conf)) {
      submitter.start(TestCluster.placeholders(jar), YarnApplicationIT::report);
      submitter.flex("tabletserver", 3);
      await(
          "three tablet servers",
          () -> submitter.status().filter(s -> s.complete() && s.components().size() == 4));
      submitter.flex("tabletserver", 1);
      ApplicationStatus shrunk =
          await(
              "one tablet server",
              () -> submitter.status().filter(s -> s.complete() && s.components().size() == 2));
      assertThat(shrunk.components()).extracting(ComponentStatus::id).contains("tabletserver-1");
      assertThatThrownBy(() -> submitter.flex("regionserver", 1))
          .isInstanceOf(SteleException.class)
          .hasMessageContaining("regionserver");
      assertThatThrownBy(
              () -> submitter.start(TestCluster.placeholders(jar), YarnApplicationIT::report))
          .isInstanceOf(SteleException.class)
          .hasMessageContaining("is already running");
    }
  }

  @Test
  void aStartOfWhatIsStartingWaitsForItAndSubmitsNothing() throws Exception {
    StartOptions placeholders = TestCluster.placeholders(jar);
    StartOptions ours = StartOptions.of(List.of(jar)).withTimeout(Duration.ofSeconds(1));
    try (YarnSubmitter submitter = YarnSubmitter.connect(conf)) {
      // A stand-in never answers as a master, so to us the application stays one that starts.
      ApplicationId id = submitter.begin(placeholders, YarnApplicationIT::report);
      List<String> said = new ArrayList<>();
      assertThatThrownBy(() -> submitter.start(ours, said::add))
          .isInstanceOfSatisfying(
              SteleException.class,
              e -> assertThat(e.code()).isEqualTo(SteleException.Code.RETRY_LATER))
          .hasMessageContaining(id + " is ");
      assertThat(said).first().asString().startsWith(id + " has been submitted already");
      assertThat(said).noneMatch(line -> line.startsWith("submitted "));
      submitter.awaitServing(id, placeholders, YarnApplicationIT::report);
      assertThatThrownBy(() -> submitter.begin(placeholders, YarnApplicationIT::report))
          .isInstanceOf(SteleException.class)
          .hasMessageContaining("is already running");
    }
  }

  @Test
  void ofTwoStartsAtOnceOneHasTheClusterAndTheOtherSaysWhich() throws Exception {
    CompletableFuture<String> first = CompletableFuture.supplyAsync(YarnApplicationIT::started);
    CompletableFuture<String> second = CompletableFuture.supplyAsync(YarnApplicationIT::started);
    List<String> outcomes = List.of(first.get(), second.get());
    List<String> ids = outcomes.stream().filter(o -> o.matches("application_\\w+")).toList();
    assertThat(ids).as("%s", outcomes).hasSize(1);
    assertThat(outcomes)
        .anyMatch(outcome -> outcome.startsWith("refused: ") && outcome.contains(ids.get(0)));
    try (YarnSubmitter submitter = YarnSubmitter.connect(conf)) {
      assertThat(submitter.status().orElseThrow().id()).hasToString(ids.get(0));
    }
  }

  /** The id of the application that was started, or why none was. */
  private static String started() {
    try (YarnSubmitter submitter = YarnSubmitter.connect(conf)) {
      return submitter.start(TestCluster.placeholders(jar), YarnApplicationIT::report).toString();
    } catch (SteleException e) {
      return "refused: " + e.getMessage();
    } catch (IOException e) {
      return e.toString();
    }
  }

  @Test
  void anotherClusterOfTheSameNameIsLeftAlone() throws Exception {
    Configuration stranger = new Configuration(conf);
    stranger.set("stele.root.dir", "/stranger");
    try (TestingServer theirs = new TestingServer()) {
      stranger.set("stele.zookeeper.quorum", theirs.getConnectString());
      try (YarnSubmitter other = YarnSubmitter.connect(stranger);
          YarnSubmitter submitter = YarnSubmitter.connect(conf)) {
        ApplicationId id = other.start(TestCluster.placeholders(jar), YarnApplicationIT::report);
        assertThat(submitter.status()).isEmpty();
        assertThat(submitter.stop(Duration.ofSeconds(20), YarnApplicationIT::report)).isEmpty();
        assertThat(other.status().orElseThrow().id()).isEqualTo(id);
        assertThat(other.stop(Duration.ofSeconds(30), YarnApplicationIT::report)).isPresent();
      }
    }
  }

  @Test
  void tellsTheLastWordsOfAComponentThatNeverComesUp() throws Exception {
    Configuration few = new Configuration(conf);
    few.setInt("stele.yarn.failures.max", 2);
    try (YarnSubmitter submitter = YarnSubmitter.connect(few)) {
      StartOptions refusing =
          TestCluster.placeholders(jar)
              .withMain(ComponentKind.TABLET_SERVER, RefusingPlaceholder.class);
      // A stand-in serves as soon as it runs, so the start may be over before the end comes.
      ApplicationId id = startedOrFailed(submitter, refusing);
      ApplicationStatus failed =
          await(
              "the application to give up",
              () -> Optional.of(submitter.status(id)).filter(s -> s.state().equals("FAILED")));
      assertThat(failed.diagnostics())
          .contains("tabletserver-", "stele.some.key has the value \"blue\"");
    }
  }

  private static ApplicationId startedOrFailed(YarnSubmitter submitter, StartOptions options)
      throws IOException {
    try {
      return submitter.start(options, YarnApplicationIT::report);
    } catch (SteleException e) {
      report(e.getMessage());
      return ApplicationId.fromString(e.getMessage().split(" ", 2)[0]);
    }
  }

  @Test
  void aJobIsAliveAsLongAsYarnSaysSo() throws Exception {
    String tag = JobNodes.TAG + "stele-job-1";
    String unknown = ApplicationId.newInstance(1, 1).toString();
    try (Applications yarn = Applications.find(conf, SystemRuntime.INSTANCE)) {
      assertThat(yarn).isInstanceOf(YarnApplications.class);
      assertThat(yarn.state(tag)).as("not submitted").isEqualTo(Applications.State.UNKNOWN);
      assertThat(yarn.state(unknown)).isEqualTo(Applications.State.UNKNOWN);
      OtherApplication job = new OtherApplication(conf, "default", 0, Set.of("stele-job-1"));
      String id = job.id().toString();
      try (job) {
        assertThat(yarn.state(id)).isEqualTo(Applications.State.ALIVE);
        assertThat(yarn.state(tag)).isEqualTo(Applications.State.ALIVE);
      }
      await("its end", () -> Optional.of(yarn.state(id)).filter(Applications.State.ENDED::equals));
      assertThat(yarn.state(tag)).isEqualTo(Applications.State.ENDED);
      try (OtherApplication copy =
          new OtherApplication(conf, "default", 0, Set.of("stele-job-1"))) {
        assertThat(yarn.state(tag))
            .as("the tag was made for the first")
            .isEqualTo(Applications.State.ENDED);
        assertThat(yarn.state(id)).isEqualTo(Applications.State.ENDED);
        assertThat(yarn.state(copy.id().toString())).isEqualTo(Applications.State.ALIVE);
      }
    }
  }

  @Test
  void theApplicationOfAJobIsFoundByItsTagAndKilled() throws Exception {
    ClusterJob.Runner tag = new ClusterJob.Runner(ClusterJob.Runner.Kind.TAG, "stele-job-2");
    try (JobApplications yarn = JobApplications.connect(conf)) {
      assertThat(yarn.find(tag)).isEmpty();
      try (OtherApplication job = new OtherApplication(conf, "default", 0, Set.of("stele-job-2"))) {
        String id = job.id().toString();
        assertThat(yarn.find(tag))
            .singleElement()
            .satisfies(
                found -> {
                  assertThat(found.id()).isEqualTo(id);
                  assertThat(found.alive()).isTrue();
                });
        yarn.kill(id);
        yarn.kill(id);
      }
    }
  }

  @Test
  void refusesWhatYarnCannotGive() throws Exception {
    Configuration wrongQueue = new Configuration(conf);
    wrongQueue.set("stele.yarn.queue", "nowhere");
    try (YarnSubmitter submitter = YarnSubmitter.connect(wrongQueue)) {
      assertThatThrownBy(
              () -> submitter.start(TestCluster.placeholders(jar), YarnApplicationIT::report))
          .isInstanceOf(SteleException.class)
          .hasMessageContaining("no queue \"nowhere\"")
          .hasMessageContaining("default");
    }
    Configuration tooLarge = new Configuration(conf);
    tooLarge.set("stele.yarn.tabletserver.memory", "900g");
    try (YarnSubmitter submitter = YarnSubmitter.connect(tooLarge)) {
      assertThatThrownBy(
              () -> submitter.start(TestCluster.placeholders(jar), YarnApplicationIT::report))
          .isInstanceOf(SteleException.class)
          .hasMessageContaining("stele.yarn.tabletserver.memory");
    }
    Configuration nobody = new Configuration(conf);
    nobody.set(YarnConfiguration.RM_ADDRESS, "localhost:" + NetUtils.getFreeSocketPort());
    assertThatThrownBy(() -> YarnSubmitter.connect(nobody))
        .isInstanceOf(SteleException.class)
        .hasMessageContaining("no YARN ResourceManager answers at localhost");
  }

  private static String page(String url) throws IOException, InterruptedException {
    return HttpClient.newBuilder()
        .followRedirects(HttpClient.Redirect.ALWAYS)
        .build()
        .send(HttpRequest.newBuilder(URI.create(url)).build(), HttpResponse.BodyHandlers.ofString())
        .body();
  }

  private static ProcessHandle applicationMaster() {
    return cluster.processes().stream()
        .filter(
            process ->
                TestCluster.commandLine(process).contains(ApplicationMasterMain.class.getName()))
        .reduce((a, b) -> b)
        .orElse(ProcessHandle.current());
  }

  private static void report(String line) {
    System.out.println("  " + line);
  }

  private static void reportTime(String what, long begin) {
    System.out.printf("%s: %.1f s%n", what, (System.nanoTime() - begin) / 1e9);
  }
}
