package io.stele.yarn;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.Ports;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.apache.curator.test.TestingServer;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.nodemanager.NodeManager;
import org.apache.hadoop.yarn.server.resourcemanager.RMContext;
import org.apache.hadoop.yarn.server.resourcemanager.recovery.FileSystemRMStateStore;
import org.apache.hadoop.yarn.server.resourcemanager.rmnode.RMNodeDecommissioningEvent;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What YARN's own daemons do to the application: they start again, are lost, or have to leave. */
final class NodesOnYarnIT {
  private static final Duration WAIT_MAX = Duration.ofSeconds(120);
  private static final int NODES = 4;

  @TempDir private static Path directory;

  private static TestingServer zooKeeper;
  private static TestCluster cluster;
  private static Configuration conf;
  private static Path jar;

  private YarnSubmitter submitter;
  private ApplicationStatus started;

  @BeforeAll
  static void startHadoop() throws Exception {
    zooKeeper = new TestingServer();
    Configuration wanted = new YarnConfiguration();
    wanted.setBoolean(YarnConfiguration.RECOVERY_ENABLED, true);
    wanted.set(YarnConfiguration.RM_STORE, FileSystemRMStateStore.class.getName());
    wanted.set(
        YarnConfiguration.FS_RM_STATE_STORE_URI, directory.resolve("rm-state").toUri().toString());
    wanted.setInt(YarnConfiguration.RM_NM_EXPIRY_INTERVAL_MS, 5_000);
    wanted.setInt(YarnConfiguration.RM_WORK_PRESERVING_RECOVERY_SCHEDULING_WAIT_MS, 1_000);
    // NodeManagers find a ResourceManager that starts again only where it was, and by RPC.
    wanted.setBoolean(YarnConfiguration.YARN_MINICLUSTER_FIXED_PORTS, true);
    wanted.setBoolean(YarnConfiguration.YARN_MINICLUSTER_USE_RPC, true);
    for (String key :
        List.of(
            YarnConfiguration.RM_ADDRESS,
            YarnConfiguration.RM_SCHEDULER_ADDRESS,
            YarnConfiguration.RM_RESOURCE_TRACKER_ADDRESS,
            YarnConfiguration.RM_ADMIN_ADDRESS,
            YarnConfiguration.RM_WEBAPP_ADDRESS)) {
      wanted.set(key, "localhost:" + Ports.free());
    }
    for (String key :
        List.of(
            YarnConfiguration.NM_ADDRESS,
            YarnConfiguration.NM_LOCALIZER_ADDRESS,
            YarnConfiguration.NM_WEBAPP_ADDRESS)) {
      wanted.set(key, "localhost:0");
    }
    cluster = new TestCluster(directory, NODES, wanted);
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

  @BeforeEach
  void startApplication() throws Exception {
    submitter = YarnSubmitter.connect(conf);
    submitter.start(TestCluster.placeholders(jar), line -> {});
    started = submitter.status().orElseThrow();
  }

  @AfterEach
  void stopApplication() throws IOException {
    submitter.stop(Duration.ofSeconds(20), line -> {});
    submitter.close();
  }

  @Test
  void aResourceManagerThatStartsAgainFindsAllProcessesRunningAndGivesContainersAgain()
      throws Exception {
    Map<String, Long> before = processes();
    cluster.yarn().restartResourceManager(0);
    await("the application to be known again", () -> submitter.status().isPresent());
    assertThat(processes()).as("nobody was restarted").isEqualTo(before);

    ProcessHandle.of(before.get("tabletserver-1")).orElseThrow().destroyForcibly();
    await("another in its place", () -> restarts("tabletserver-1") == 1);
    Map<String, Long> after = processes();
    assertThat(after.get("tabletserver-1")).isNotEqualTo(before.get("tabletserver-1"));
    assertThat(after.get("tabletserver-2")).isEqualTo(before.get("tabletserver-2"));
    assertThat(after.get("master-1")).isEqualTo(before.get("master-1"));
  }

  @Test
  void whatRanOnANodeThatIsLostRunsOnAnother() throws Exception {
    String node = nodeOf(started, "tabletserver-2");
    nodeManager(node).stop();
    await("it elsewhere", () -> isElsewhere("tabletserver-2", node));
  }

  @Test
  void whatRunsOnANodeThatHasToLeaveRunsOnAnotherBeforeThat() throws Exception {
    String node = nodeOf(started, "tabletserver-1");
    NodeId id = nodeManager(node).getNMContext().getNodeId();
    RMContext resourceManager = cluster.yarn().getResourceManager().getRMContext();
    resourceManager
        .getDispatcher()
        .getEventHandler()
        .handle(new RMNodeDecommissioningEvent(id, 100));
    await("it elsewhere", () -> isElsewhere("tabletserver-1", node));
    assertThat(resourceManager.getRMNodes()).as("the node has not left yet").containsKey(id);
  }

  private boolean isElsewhere(String component, String node) throws IOException {
    return submitter
        .status()
        .filter(ApplicationStatus::complete)
        .filter(status -> !nodeOf(status, component).equals(node))
        .isPresent();
  }

  private static NodeManager nodeManager(String node) {
    for (int i = 0; i < NODES; i++) {
      NodeManager one = cluster.yarn().getNodeManager(i);
      if (one.getNMContext().getNodeId().toString().equals(node)) {
        return one;
      }
    }
    throw new AssertionError("no node " + node);
  }

  private static ComponentStatus component(ApplicationStatus status, String id) {
    return status.components().stream().filter(c -> c.id().equals(id)).findFirst().orElseThrow();
  }

  private static String nodeOf(ApplicationStatus status, String id) {
    return component(status, id).node();
  }

  private int restarts(String id) throws IOException {
    return submitter
        .status()
        .filter(ApplicationStatus::complete)
        .map(status -> component(status, id).restarts())
        .orElse(-1);
  }

  /** The process of each component, once all run. */
  private Map<String, Long> processes() throws Exception {
    Map<String, Long> found = new HashMap<>();
    await(
        "all processes",
        () -> {
          Optional<ApplicationStatus> now = submitter.status().filter(ApplicationStatus::complete);
          found.clear();
          for (ComponentStatus component :
              now.map(ApplicationStatus::components).orElse(List.of())) {
            cluster.processes().stream()
                .filter(one -> TestCluster.commandLine(one).contains(component.container()))
                .forEach(one -> found.put(component.id(), one.pid()));
          }
          return now.isPresent() && found.size() == now.get().components().size();
        });
    return Map.copyOf(found);
  }

  private static void await(String what, Callable<Boolean> condition) throws Exception {
    long deadline = System.nanoTime() + WAIT_MAX.toNanos();
    while (!condition.call()) {
      assertThat(System.nanoTime()).as("awaited in vain: " + what).isLessThan(deadline);
      Thread.sleep(100);
    }
  }
}
