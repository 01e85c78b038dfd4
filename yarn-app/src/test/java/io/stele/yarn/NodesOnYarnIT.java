package io.stele.yarn;

import static io.stele.yarn.Components.await;
import static io.stele.yarn.Components.awaitThat;
import static io.stele.yarn.Components.component;
import static io.stele.yarn.Components.kill;
import static io.stele.yarn.Components.nodesOf;
import static org.assertj.core.api.Assertions.assertThat;

import io.stele.Ports;
import io.stele.client.ClusterStatus;
import io.stele.client.Stele;
import io.stele.config.Keys;
import io.stele.model.SteleException;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.apache.curator.test.TestingServer;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.apache.hadoop.yarn.api.records.NodeState;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.event.Event;
import org.apache.hadoop.yarn.server.resourcemanager.RMContext;
import org.apache.hadoop.yarn.server.resourcemanager.recovery.FileSystemRMStateStore;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.attempt.RMAppAttempt;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.attempt.RMAppAttemptEvent;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.attempt.RMAppAttemptEventType;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.attempt.RMAppAttemptState;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainer;
import org.apache.hadoop.yarn.server.resourcemanager.rmnode.RMNode;
import org.apache.hadoop.yarn.server.resourcemanager.rmnode.RMNodeDecommissioningEvent;
import org.apache.hadoop.yarn.server.resourcemanager.rmnode.RMNodeEvent;
import org.apache.hadoop.yarn.server.resourcemanager.rmnode.RMNodeEventType;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.ContainerPreemptEvent;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.SchedulerEventType;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * What YARN does to a running Stele while clients write: its daemons are killed or start again, a
 * node has to leave, there is no room, room is taken away. No acknowledged write is lost, and
 * service is back.
 */
@Timeout(600)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
final class NodesOnYarnIT {
  private static final int NODES = 3;
  private static final int NODE_MB = 1536;
  private static final int SERVER_MB = 512;

  @TempDir private static Path directory;

  private static TestingServer zooKeeper;
  private static TestCluster cluster;
  private static Configuration conf;
  private static YarnSubmitter submitter;
  private static ApplicationId application;
  private static Stele stele;
  private static AcknowledgedWrites writes;

  private static final List<NodeManagerProcess> NODE_MANAGERS = new ArrayList<>();

  private ApplicationStatus before;
  private Map<String, ProcessHandle> processesBefore;

  @BeforeAll
  static void start() throws Exception {
    zooKeeper = new TestingServer();
    cluster = new TestCluster(directory, 0, yarnConf());
    for (int i = 1; i <= NODES; i++) {
      Path files = cluster.yarn().getTestWorkDir().toPath().toAbsolutePath().resolve("node-" + i);
      NODE_MANAGERS.add(new NodeManagerProcess(files, cluster.yarn().getConfig()));
    }
    awaitThat("all nodes", () -> nodesIn(NodeState.RUNNING) == NODES);
    conf = cluster.conf(zooKeeper);
    conf.set(Keys.YARN_TABLETSERVER_COUNT.name(), "3");
    conf.set(Keys.YARN_TABLETSERVER_MEMORY.name(), SERVER_MB + "m");
    conf.set("stele.tabletserver.memtable.total.bytes", "32m");
    conf.set("stele.tabletserver.memtable.bytes", "8m");
    conf.set("stele.tabletserver.cache.bytes", "32m");
    conf.set(Keys.SESSION_TIMEOUT.name(), "6s");
    conf.set(Keys.CLIENT_TIMEOUT.name(), "120s");
    submitter = YarnSubmitter.connect(conf);
    application = submitter.start(options(), line -> {});
    stele = Stele.connect(conf);
    writes = new AcknowledgedWrites(stele, "writes", 6);
  }

  private static StartOptions options() throws IOException {
    return StartOptions.of(List.of(cluster.emptyJar()));
  }

  private static Configuration yarnConf() throws IOException {
    Configuration wanted = new YarnConfiguration();
    wanted.setBoolean(YarnConfiguration.RECOVERY_ENABLED, true);
    wanted.set(YarnConfiguration.RM_STORE, FileSystemRMStateStore.class.getName());
    wanted.set(
        YarnConfiguration.FS_RM_STATE_STORE_URI, directory.resolve("rm-state").toUri().toString());
    wanted.setInt(YarnConfiguration.RM_WORK_PRESERVING_RECOVERY_SCHEDULING_WAIT_MS, 1_000);
    wanted.setInt(YarnConfiguration.NM_PMEM_MB, NODE_MB);
    // Daemons find a ResourceManager that starts again only where it was, and by RPC.
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
    // Ours is a queue that may have all, as long as the other does not want its three quarters.
    String queues = "yarn.scheduler.capacity.root.";
    wanted.set(queues + "queues", "default,other");
    wanted.set(queues + "default.capacity", "25");
    wanted.set(queues + "default.maximum-capacity", "100");
    wanted.set(queues + "default.user-limit-factor", "10");
    wanted.set(queues + "other.capacity", "75");
    wanted.set(queues + "other.maximum-capacity", "100");
    wanted.set(queues + "other.user-limit-factor", "10");
    wanted.setInt(YarnConfiguration.MAX_CLUSTER_LEVEL_APPLICATION_PRIORITY, 10);
    wanted.setBoolean(YarnConfiguration.RM_SCHEDULER_ENABLE_MONITORS, true);
    String preemption = "yarn.resourcemanager.monitor.capacity.preemption.";
    wanted.set(preemption + "monitoring_interval", "500");
    wanted.set(preemption + "max_wait_before_kill", "60000");
    wanted.set(preemption + "natural_termination_factor", "1.0");
    wanted.set(preemption + "total_preemption_per_round", "1.0");
    return wanted;
  }

  @AfterAll
  @SuppressWarnings("try") // They are closed, not used.
  static void stop() throws Exception {
    try (AutoCloseable last = zooKeeper;
        AutoCloseable hadoop = cluster;
        AutoCloseable nodes = () -> NODE_MANAGERS.forEach(NodeManagerProcess::close);
        AutoCloseable application = submitter;
        AutoCloseable client = stele;
        AutoCloseable writing = writes) {
      // All are closed, in the opposite order.
    }
  }

  @BeforeEach
  void awaitService() throws Exception {
    before = awaitWhole();
    processesBefore = Components.processes(cluster, NodesOnYarnIT::status);
    writes.awaitOneInEachTablet();
    writes.longestGap();
  }

  @AfterEach
  void nothingIsLost(org.junit.jupiter.api.TestInfo test) throws Exception {
    writes.awaitOneInEachTablet();
    Duration gap = writes.longestGap();
    awaitWhole();
    writes.check();
    System.out.printf(
        "%s: a tablet took no write for %.1f s%n", test.getDisplayName(), gap.toMillis() / 1e3);
  }

  /** Waits until all that is wanted runs and serves, and YARN knows that it runs. */
  private static ApplicationStatus awaitWhole() throws Exception {
    return await(
        "all servers to serve",
        () ->
            status()
                .filter(ApplicationStatus::complete)
                .filter(status -> status.components().size() == NODES + 1)
                .filter(
                    status ->
                        status.components().stream()
                            .allMatch(one -> cluster.isRunningToYarn(one.container())))
                .filter(status -> servesWith(NODES)));
  }

  private static Optional<ApplicationStatus> status() throws IOException {
    try {
      return Optional.of(submitter.status(application));
    } catch (SteleException e) {
      return Optional.empty(); // YARN does not know it, or not yet.
    }
  }

  /** Whether so many servers serve all tablets. */
  private static boolean servesWith(int servers) {
    try {
      ClusterStatus status = stele.admin().clusterStatus();
      return status.servers().size() == servers && status.unassigned() == 0;
    } catch (SteleException | IOException e) {
      return false; // No master is there just now.
    }
  }

  /** How many tablet servers there are; empty if no master says so. */
  private static Optional<Integer> servers() {
    try {
      return Optional.of(stele.admin().clusterStatus().servers().size());
    } catch (SteleException | IOException e) {
      return Optional.empty();
    }
  }

  private static RMContext resourceManager() {
    return cluster.yarn().getResourceManager().getRMContext();
  }

  private static void send(Event<?> event) {
    resourceManager().getDispatcher().getEventHandler().handle(event);
  }

  private static long nodesIn(NodeState state) {
    return resourceManager().getRMNodes().values().stream()
        .filter(node -> node.getState() == state)
        .count();
  }

  private static NodeId idOf(String node) {
    return resourceManager().getRMNodes().keySet().stream()
        .filter(one -> one.toString().equals(node))
        .findFirst()
        .orElseThrow();
  }

  private static NodeManagerProcess nodeManager(String node) {
    return NODE_MANAGERS.stream().filter(one -> one.isNode(node)).findFirst().orElseThrow();
  }

  private static RMAppAttempt attempt() {
    return resourceManager().getRMApps().get(application).getCurrentAppAttempt();
  }

  private static ProcessHandle applicationMaster(RMAppAttempt attempt) throws Exception {
    String container = attempt.getMasterContainer().getId().toString();
    return await(
        "the process of " + container,
        () ->
            cluster.processes().stream()
                .filter(one -> TestCluster.commandLine(one).contains(container))
                .findFirst());
  }

  private int restartsBefore(String id) {
    return component(before, id).restarts();
  }

  private ApplicationStatus awaitRestart(String id) throws Exception {
    return await(
        id + " to be another",
        () ->
            status()
                .filter(ApplicationStatus::complete)
                .filter(now -> component(now, id).restarts() > restartsBefore(id)));
  }

  private void assertNobodyWasRestarted() throws Exception {
    assertThat(Components.processes(cluster, NodesOnYarnIT::status)).isEqualTo(processesBefore);
  }

  private static void assertNoProcessTooMany() throws Exception {
    awaitThat(
        "the end of processes that YARN has forgotten",
        () -> cluster.processes().size() == NODES + 2);
  }

  @Test
  void aResourceManagerThatStartsAgainFindsAllProcessesRunningAndGivesContainersAgain()
      throws Exception {
    cluster.yarn().restartResourceManager(0);
    await("the application to be known again", () -> status());
    assertNobodyWasRestarted();

    kill(processesBefore.get("tabletserver-1"));
    awaitRestart("tabletserver-1");
    Map<String, ProcessHandle> others = new TreeMap<>(processesBefore);
    others.remove("tabletserver-1");
    assertThat(Components.processes(cluster, NodesOnYarnIT::status)).containsAllEntriesOf(others);
  }

  @Test
  void whatRanOnANodeThatIsLostRunsOnAnother() throws Exception {
    String server = serverApartFromTheApplicationMaster();
    String node = component(before, server).node();
    ProcessHandle lost = processesBefore.get(server);
    nodeManager(node).kill();
    send(new RMNodeEvent(idOf(node), RMNodeEventType.EXPIRE)); // It would take ten minutes.
    await(
        "it elsewhere",
        () ->
            status()
                .filter(ApplicationStatus::complete)
                .filter(now -> nodesOf(now, server).stream().noneMatch(node::equals)));
    // Its process went on as long as it was not deposed.
    awaitThat("the end of the process on the lost node", () -> !lost.isAlive());
    nodeManager(node).start(true);
    awaitThat("the node again", () -> nodesIn(NodeState.RUNNING) == NODES);
    assertNoProcessTooMany();
  }

  private String serverApartFromTheApplicationMaster() {
    int port = attempt().getMasterContainer().getNodeId().getPort();
    return before.components().stream()
        .filter(one -> one.id().startsWith("tabletserver") && !one.node().endsWith(":" + port))
        .map(ComponentStatus::id)
        .findFirst()
        .orElseThrow();
  }

  @Test
  @Order(Integer.MAX_VALUE - 1) // The node has no recovery from then on.
  void aNodeManagerWithoutRecoveryThatStartsAgainLeavesNoProcessBeside() throws Exception {
    // That of the ApplicationMaster: a second one is begun beside the first.
    RMAppAttempt first = attempt();
    ProcessHandle firstMaster = applicationMaster(first);
    NodeManagerProcess node = nodeManager(first.getMasterContainer().getNodeId().toString());
    List<String> there =
        before.components().stream()
            .filter(one -> node.isNode(one.node()))
            .map(ComponentStatus::id)
            .toList();
    node.kill();
    node.start(false);
    awaitThat("another attempt", () -> attempt() != first);
    awaitThat("the end of the first ApplicationMaster", () -> !firstMaster.isAlive());
    for (String id : there) {
      awaitThat("the end of " + id + " before", () -> !processesBefore.get(id).isAlive());
    }
    awaitWhole();
    assertNoProcessTooMany();
  }

  @Test
  void aNodeManagerWithRecoveryThatStartsAgainHasItsProcessesAndSeesThemEnd() throws Exception {
    NodeManagerProcess node = nodeManager(component(before, "tabletserver-1").node());
    node.kill();
    node.start(true);
    awaitThat("its answer", () -> answers(node.port()));
    assertNobodyWasRestarted();

    kill(processesBefore.get("tabletserver-1"));
    ApplicationStatus after = awaitRestart("tabletserver-1");
    // 154: the shell around the process says "Killed" to the NodeManager that is gone, dies of that
    // (SIGPIPE), and leaves no exit code. A process that exits by itself is seen to.
    assertThat(component(after, "tabletserver-1").note())
        .containsAnyOf("was killed (exit 137)", "ended with exit code 154");
    assertThat(component(after, "tabletserver-1").restarts())
        .as("once")
        .isEqualTo(restartsBefore("tabletserver-1") + 1);
    assertNoProcessTooMany();
  }

  private static boolean answers(int port) {
    try (java.net.Socket socket = new java.net.Socket("localhost", port)) {
      return socket.isConnected();
    } catch (IOException e) {
      return false;
    }
  }

  @Test
  void anApplicationMasterOfAMachineThatHungGivesWayToTheNext() throws Exception {
    RMAppAttempt first = attempt();
    ProcessHandle suspended = applicationMaster(first);
    long node = nodeManager(first.getMasterContainer().getNodeId().toString()).pid();
    NodeManagerProcess.signal("STOP", node); // So it cannot kill the first.
    NodeManagerProcess.signal("STOP", suspended.pid());
    awaitHeartbeatsOfTheOthers(first.getMasterContainer().getNodeId());
    try {
      // As YARN does when it has not heard from it for a quarter of an hour.
      send(new RMAppAttemptEvent(first.getAppAttemptId(), RMAppAttemptEventType.EXPIRE));
      awaitThat("another attempt", () -> attempt() != first && isUp(attempt()));
      writes.awaitOneInEachTablet();
    } finally {
      NodeManagerProcess.signal("CONT", suspended.pid());
      awaitThat("its own end", () -> !suspended.isAlive());
      NodeManagerProcess.signal("CONT", node);
    }
    awaitWhole();
    assertThat(attempt().getAppAttemptId()).isNotEqualTo(first.getAppAttemptId());
    assertNobodyWasRestarted();
    assertNoProcessTooMany();
  }

  /** So that YARN has done all it does for the last heartbeat of this one. */
  private static void awaitHeartbeatsOfTheOthers(NodeId id) throws Exception {
    Map<NodeId, Integer> before = new TreeMap<>();
    resourceManager().getRMNodes().forEach((node, state) -> before.put(node, heartbeats(state)));
    before.remove(id);
    awaitThat(
        "two heartbeats of each other node",
        () ->
            before.entrySet().stream()
                .allMatch(
                    node ->
                        heartbeats(resourceManager().getRMNodes().get(node.getKey()))
                            >= node.getValue() + 2));
  }

  private static int heartbeats(RMNode node) {
    return node.getLastNodeHeartBeatResponse().getResponseId();
  }

  private static boolean isUp(RMAppAttempt attempt) {
    return attempt.getState() == RMAppAttemptState.RUNNING;
  }

  @Test
  void whatRunsOnANodeThatHasToLeaveIsReplacedBeforeItIsDrained() throws Exception {
    String node = component(before, "tabletserver-1").node();
    NodeId id = idOf(node);
    send(new RMNodeDecommissioningEvent(id, 300));
    await(
        "all of it elsewhere",
        () -> {
          assertThat(servers().orElse(NODES))
              .as("there is always another one before one goes")
              .isGreaterThanOrEqualTo(NODES);
          return status()
              .filter(ApplicationStatus::complete)
              .filter(now -> now.components().stream().noneMatch(one -> one.node().equals(node)));
        });
    assertThat(resourceManager().getRMNodes()).as("the node has not left yet").containsKey(id);
    send(new RMNodeEvent(id, RMNodeEventType.RECOMMISSION));
    awaitThat("the node to stay", () -> nodesIn(NodeState.RUNNING) == NODES);
  }

  @Test
  void aServerForWhichTheQueueHasNoRoomIsWaitedForAndItsTabletsAreServedMeanwhile()
      throws Exception {
    try (OtherApplication other = new OtherApplication(conf, "default", 10, Set.of())) {
      other.ask(conf, NODES * NODE_MB / SERVER_MB, SERVER_MB);
      awaitThat("a full cluster", () -> freeMb() < SERVER_MB);
      kill(processesBefore.get("tabletserver-1"));
      ComponentStatus waiting =
          await(
              "it to wait for room",
              () ->
                  status()
                      .filter(ApplicationStatus::reachable)
                      .map(status -> component(status, "tabletserver-1"))
                      .filter(one -> one.note().contains("MB left for it")));
      assertThat(waiting.state()).isEqualTo("ASKED");
      awaitThat("all tablets to be served by the others", () -> servesWith(NODES - 1));
      writes.awaitOneInEachTablet();
      assertThat(component(status().orElseThrow(), "tabletserver-1").state()).isEqualTo("ASKED");
    }
    awaitRestart("tabletserver-1");
  }

  /** What the freest node has left. */
  private static long freeMb() {
    return resourceManager().getRMNodes().keySet().stream()
        .mapToLong(
            id ->
                resourceManager()
                    .getScheduler()
                    .getNodeReport(id)
                    .getAvailableResource()
                    .getMemorySize())
        .max()
        .orElse(0);
  }

  @Test
  void aServerWhoseRoomAnotherQueueIsOwedIsDrainedAndComesBack() throws Exception {
    try (OtherApplication other = new OtherApplication(conf, "other", 0, Set.of())) {
      // Its three quarters, but for a part of a container: room for one of our servers is left.
      other.ask(conf, NODES * NODE_MB * 3 / 4 / SERVER_MB, SERVER_MB);
      await(
          "a server to give way",
          () ->
              status()
                  .filter(ApplicationStatus::reachable)
                  .filter(
                      now ->
                          now.components().stream().anyMatch(one -> one.state().equals("ASKED"))));
      writes.awaitOneInEachTablet();
    }
    ApplicationStatus after = awaitWhole();
    List<ComponentStatus> gaveWay =
        after.components().stream()
            .filter(one -> one.restarts() > restartsBefore(one.id()))
            .toList();
    assertThat(gaveWay).isNotEmpty();
    assertThat(gaveWay)
        .allSatisfy(one -> assertThat(one.note()).contains("YARN preempted its container"));
  }

  @Test
  void aServerThatIsPreemptedWithoutNoticeIsReplaced() throws Exception {
    ContainerId id = ContainerId.fromString(component(before, "tabletserver-1").container());
    RMContainer container =
        cluster.yarn().getResourceManager().getResourceScheduler().getRMContainer(id);
    send(
        new ContainerPreemptEvent(
            attempt().getAppAttemptId(),
            container,
            SchedulerEventType.MARK_CONTAINER_FOR_KILLABLE));
    ApplicationStatus after = awaitRestart("tabletserver-1");
    assertThat(component(after, "tabletserver-1").note()).contains("was preempted by YARN");
    assertNoProcessTooMany();
  }

  @Test
  @Order(Integer.MAX_VALUE)
  void aResourceManagerWithoutRecoveryForgetsAllAndTheNextStartFindsTheTables() throws Exception {
    cluster.yarn().getConfig().setBoolean(YarnConfiguration.RECOVERY_ENABLED, false);
    cluster.yarn().restartResourceManager(0);
    awaitThat("the end of all processes", () -> cluster.processes().isEmpty());
    application =
        await(
            "another start",
            () -> {
              try {
                return Optional.of(submitter.start(options(), line -> {}));
              } catch (SteleException e) {
                System.out.println(e.getMessage()); // The locks of the dead are still there.
                return Optional.empty();
              }
            });
    before = awaitWhole();
  }
}
