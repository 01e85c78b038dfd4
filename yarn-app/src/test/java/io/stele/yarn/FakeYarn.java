package io.stele.yarn;

import io.stele.model.SteleException;
import io.stele.runtime.Futures;
import io.stele.runtime.IoRunnable;
import io.stele.runtime.ProcessRuntime;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.yarn.api.records.ApplicationAttemptId;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.Container;
import org.apache.hadoop.yarn.api.records.ContainerExitStatus;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.ContainerState;
import org.apache.hadoop.yarn.api.records.ContainerStatus;
import org.apache.hadoop.yarn.api.records.FinalApplicationStatus;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.apache.hadoop.yarn.api.records.NodeReport;
import org.apache.hadoop.yarn.api.records.NodeState;
import org.apache.hadoop.yarn.api.records.Resource;

/**
 * A YARN of three nodes, and the servers in its containers, for the one application under test. It
 * gives what is asked for after a second, and notes every call as {@code verb slot}.
 *
 * <p>For one thread at a time, as a simulation has them.
 */
final class FakeYarn implements ResourceManager, NodeManagers, Servers, ApplicationMaster.Starter {
  static final ApplicationId APPLICATION = ApplicationId.newInstance(1, 1);

  /** What the application was submitted with. */
  static final Deployment SUBMITTED = new Deployment(new Path("/old.zip"), new Path("/conf.xml"));

  static final Deployment UNUSABLE = new Deployment(new Path("/bad.zip"), new Path("/conf.xml"));
  private static final Duration ANSWER = Duration.ofSeconds(1);
  private static final long NODE_MB = 8192;
  private static final int NODE_VCORES = 8;

  private final ProcessRuntime runtime;
  private final List<String> nodes = new ArrayList<>(List.of("n1", "n2", "n3"));
  private final Map<String, Integer> leaving = new TreeMap<>(); // Their seconds.
  private final Map<String, Container> containers = new TreeMap<>(); // By id.
  private final Set<String> started = new TreeSet<>();
  private final Set<String> knownToNodes = new TreeSet<>(); // Nodes remember what has ended.
  private int given;

  /** Every call that changes something, in order. */
  final List<String> calls = new ArrayList<>();

  /** For each call to drain, whether only while another server serves. */
  final List<Boolean> drainsUnlessLast = new ArrayList<>();

  final Map<String, ClusterClaim.Fate> fates = new TreeMap<>();
  ResourceManager.Listener listener;

  /** What is done when the application ends. */
  IoRunnable whenUnregistered = () -> {};

  /** How it ends to ask a server to drain, if not well. */
  Optional<IOException> drainFailure = Optional.empty();

  /** How long it takes to ask a server to drain. */
  Duration drainTakes = Duration.ZERO;

  /** Whether nodes cannot be listed, and whether none are there. */
  boolean listFails;

  boolean listIsEmpty;

  /** Whether calls that block end with an error. */
  boolean broken;

  /** Slots for which it refuses containers. */
  final Set<String> refused = new TreeSet<>();

  /** Slots for which no container can be asked for. */
  final Set<String> cannotBeRequested = new TreeSet<>();

  /** Whether no room is left: what is asked for waits. */
  boolean full;

  /** Whether heartbeats go unanswered. */
  boolean silent;

  /** How long it takes to tell the master of an end. */
  Duration exitReportTakes = Duration.ZERO;

  /** Slots whose master's lock was taken, should they have had it. */
  final Set<String> deposed = new TreeSet<>();

  /** Nodes whose calls take minutes, and then fail. */
  final Set<String> dead = new TreeSet<>();

  /** How long a node takes to stop a process. */
  Duration stopTakes = Duration.ZERO;

  private final List<Ask> waiting = new ArrayList<>();

  /** Whether processes have yet to come up, and how often that was asked. */
  boolean starting;

  int registeredAsked;

  /** Slots whose process holds no lock, and whether the lock service does not answer. */
  final Set<String> withoutLock = new TreeSet<>();

  /** Slots whose servers an operator drains. */
  final Set<String> drainedByHand = new TreeSet<>();

  /** Containers whose process holds no lock. */
  final Set<String> lost = new TreeSet<>();

  boolean locksAway;

  /** How long servers were given to unload all but METADATA. */
  Duration rankTimeout = Duration.ZERO;

  static ApplicationAttemptId attempt(int number) {
    return ApplicationAttemptId.newInstance(APPLICATION, number);
  }

  FakeYarn(ProcessRuntime runtime) {
    this.runtime = runtime;
  }

  private static SlotId slot(Container container) {
    return SlotId.of(container.getAllocationRequestId()).orElseThrow();
  }

  private SlotId slot(String containerId) {
    return slot(containers.get(containerId));
  }

  /** The container that runs the slot's process. */
  Container running(String slot) {
    return containers.values().stream()
        .filter(c -> slot(c).toString().equals(slot) && started.contains(c.getId().toString()))
        .reduce((a, b) -> b)
        .orElseThrow();
  }

  String nodeOf(String slot) {
    return running(slot).getNodeId().getHost();
  }

  Set<String> runningSlots() {
    Set<String> slots = new TreeSet<>();
    started.forEach(id -> slots.add(slot(id).toString()));
    return slots;
  }

  /** The slot's process ends. */
  void end(String slot, int exitStatus) {
    end(running(slot).getId(), exitStatus);
  }

  private void end(ContainerId id, int exitStatus) {
    started.remove(id.toString());
    listener.completed(
        List.of(ContainerStatus.newInstance(id, ContainerState.COMPLETE, "", exitStatus)));
  }

  /** The node is to leave. */
  void decommission(String node, int seconds) {
    nodes.remove(node);
    leaving.put(node, seconds);
    listener.nodesChanged(List.of(report(node, NodeState.DECOMMISSIONING, seconds)));
  }

  /** The node with its containers is known no more, and nobody is told. */
  void forget(String node) {
    nodes.remove(node);
  }

  void remember(String node) {
    nodes.add(node);
  }

  private boolean knows(String node) {
    return nodes.contains(node) || leaving.containsKey(node);
  }

  private void breakDown() {
    if (broken) {
      throw new LinkageError("a class is missing");
    }
  }

  private static NodeReport report(String node, NodeState state, int timeToLeave) {
    return NodeReport.newInstance(
        NodeId.newInstance(node, 1),
        state,
        "",
        "",
        Resource.newInstance(0, 0),
        Resource.newInstance(NODE_MB, NODE_VCORES),
        0,
        "",
        0,
        Set.of(),
        timeToLeave,
        null);
  }

  @Override
  public List<Container> register(String host, int port, String trackingUrl) {
    calls.add("register");
    answer();
    return List.copyOf(
        containers.values().stream()
            .filter(container -> started.contains(container.getId().toString()))
            .filter(container -> knows(container.getNodeId().getHost()))
            .toList());
  }

  /** A forgotten node registers with the ResourceManager that has restarted. */
  void comesBack(String node) {
    remember(node);
    listener.recovered(runningOn(node));
  }

  /** YARN gives up the node of a slot's container, whose process goes on. */
  void losesSight(String slot) {
    listener.completed(
        List.of(
            ContainerStatus.newInstance(
                running(slot).getId(),
                ContainerState.COMPLETE,
                "its node was lost",
                ContainerExitStatus.ABORTED)));
  }

  /** The same, and right then the slot's process ends: both are told in one answer. */
  void comesBackAndEnds(String node, String slot, int exitStatus) {
    remember(node);
    List<Container> there = runningOn(node);
    end(slot, exitStatus); // YARN's client calls back with ends first.
    listener.recovered(there);
  }

  private List<Container> runningOn(String node) {
    return containers.values().stream()
        .filter(container -> started.contains(container.getId().toString()))
        .filter(container -> container.getNodeId().getHost().equals(node))
        .toList();
  }

  private void answer() {
    if (!silent) {
      listener.answered(runtime.nanoTime());
    }
    runtime.after(ANSWER, this::answer);
  }

  @Override
  public void unregister(FinalApplicationStatus status, String message) throws IOException {
    calls.add("unregister " + status + " " + message);
    whenUnregistered.run();
  }

  @Override
  public void request(Ask ask) {
    if (cannotBeRequested.contains(ask.slot().toString())) {
      throw new IllegalStateException("YARN's client does not take the request");
    }
    calls.add("request " + ask.slot());
    if (refused.contains(ask.slot().toString())) {
      runtime.after(ANSWER, () -> listener.refused(ask.slot(), "larger than any node"));
      return;
    }
    if (full) {
      waiting.add(ask);
      return;
    }
    String node = ask.placement() instanceof Placement.OnNode onNode ? onNode.node() : nodes.get(0);
    runtime.after(ANSWER, () -> give(ask.slot(), node));
  }

  /** There is room again. */
  void makeRoom() {
    full = false;
    List<Ask> met = List.copyOf(waiting);
    waiting.clear();
    met.forEach(ask -> give(ask.slot(), nodes.get(0)));
  }

  /** The slot's container is wanted for another queue. */
  void preempt(String slot) {
    listener.preempted(Set.of(running(slot).getId()));
  }

  @Override
  public OptionalLong headroomMb() {
    return full ? OptionalLong.of(100) : OptionalLong.empty();
  }

  private void give(SlotId slot, String node) {
    if (!nodes.contains(node)) {
      return;
    }
    Container container =
        Container.newInstance(
            ContainerId.newContainerId(attempt(1), ++given),
            NodeId.newInstance(node, 1),
            "",
            Resource.newInstance(1024, 1),
            null,
            null);
    container.setAllocationRequestId(slot.allocationRequestId());
    containers.put(container.getId().toString(), container);
    listener.allocated(List.of(container));
  }

  @Override
  public void withdraw(SlotId slot) {
    // Asks that were met are withdrawn, too: nothing to see.
    waiting.removeIf(ask -> ask.slot().equals(slot));
  }

  @Override
  public void release(ContainerId id) {
    calls.add("release " + slot(id.toString()));
    if (knows(containers.get(id.toString()).getNodeId().getHost())) {
      end(id, -100);
    }
  }

  @Override
  public List<Node> nodes() throws IOException {
    breakDown();
    if (listFails) {
      throw new IOException("the ResourceManager does not answer");
    }
    List<Node> all = new ArrayList<>();
    if (!listIsEmpty) {
      nodes.forEach(
          node -> all.add(new Node(node, false, Optional.empty(), NODE_MB, NODE_VCORES, NODE_MB)));
      leaving.forEach(
          (node, seconds) ->
              all.add(
                  new Node(
                      node,
                      true,
                      Optional.of(Duration.ofSeconds(seconds)),
                      NODE_MB,
                      NODE_VCORES,
                      NODE_MB)));
    }
    return all;
  }

  @Override
  public Optional<Node> toNode(NodeReport report) {
    return Optional.of(
        new Node(
            nodeName(report.getNodeId()),
            report.getNodeState() == NodeState.DECOMMISSIONING,
            Optional.ofNullable(report.getDecommissioningTimeout()).map(Duration::ofSeconds),
            NODE_MB,
            NODE_VCORES,
            NODE_MB));
  }

  @Override
  public String nodeName(NodeId id) {
    return id.getHost();
  }

  @Override
  public ClusterClaim.Fate fateOf(String applicationId) {
    return fates.getOrDefault(applicationId, ClusterClaim.Fate.UNKNOWN);
  }

  @Override
  public void check(Deployment deployment) {
    if (deployment.equals(UNUSABLE)) {
      throw SteleException.refused("it needs more memory");
    }
  }

  /** Fails, and only after minutes, if the node is dead. */
  private void reach(NodeId node) throws IOException {
    if (dead.contains(node.getHost())) {
      pause(Duration.ofMinutes(7), "connecting to " + node);
      throw new IOException(node + " does not answer");
    }
  }

  @Override
  public void start(SlotId slot, Container container, Deployment deployment) throws IOException {
    breakDown();
    reach(container.getNodeId());
    calls.add("start " + slot + (deployment.equals(SUBMITTED) ? "" : " upgraded"));
    started.add(container.getId().toString());
    knownToNodes.add(container.getId().toString());
  }

  @Override
  public void stop(ContainerId id, NodeId node) throws IOException {
    reach(node);
    calls.add("stop " + slot(id.toString()));
    if (stopTakes.isZero()) {
      end(id, 137);
    } else {
      runtime.after(stopTakes, () -> end(id, 137));
    }
  }

  @Override
  public boolean wasStarted(ContainerId id, NodeId node) throws IOException {
    reach(node);
    return knownToNodes.contains(id.toString());
  }

  @Override
  public void drain(String containerId, boolean unlessLast) throws IOException {
    calls.add("drain " + slot(containerId));
    drainsUnlessLast.add(unlessLast);
    pause(drainTakes, "asking it to drain");
    if (drainFailure.isPresent()) {
      throw drainFailure.get();
    }
  }

  @Override
  public void exited(String containerId, boolean seen) throws IOException {
    breakDown();
    pause(exitReportTakes, "telling the master");
    calls.add((seen ? "exited " : "lost ") + slot(containerId));
  }

  private void pause(Duration time, String what) throws IOException {
    if (!time.isZero()) {
      try {
        runtime.sleep(time);
      } catch (InterruptedException e) {
        throw Futures.interrupted(e, what);
      }
    }
  }

  @Override
  public void deposeMaster(String containerId) {
    deposed.add(slot(containerId).toString());
  }

  @Override
  public Registered registered(Map<String, ComponentKind> running) throws IOException {
    breakDown();
    registeredAsked++;
    if (locksAway) {
      throw new IOException("no ZooKeeper answers");
    }
    Set<String> registered = new TreeSet<>(starting ? Set.of() : running.keySet());
    registered.removeIf(id -> withoutLock.contains(slot(id).toString()) || lost.contains(id));
    Set<String> draining = new TreeSet<>(registered);
    draining.removeIf(id -> !drainedByHand.contains(slot(id).toString()));
    return new Registered(registered, draining);
  }

  @Override
  public Map<String, Integer> stopRanks(Set<String> ranked, Duration timeout) {
    breakDown();
    rankTimeout = timeout;
    return Map.of();
  }
}
