package io.stele.yarn;

import io.stele.runtime.ProcessRuntime;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.security.token.SecretManager.InvalidToken;
import org.apache.hadoop.yarn.api.protocolrecords.AllocateResponse;
import org.apache.hadoop.yarn.api.protocolrecords.RegisterApplicationMasterResponse;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.Container;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.ContainerStatus;
import org.apache.hadoop.yarn.api.records.FinalApplicationStatus;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.apache.hadoop.yarn.api.records.NodeReport;
import org.apache.hadoop.yarn.api.records.NodeState;
import org.apache.hadoop.yarn.api.records.PreemptionMessage;
import org.apache.hadoop.yarn.api.records.Priority;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.api.records.UpdatedContainer;
import org.apache.hadoop.yarn.client.api.AMRMClient.ContainerRequest;
import org.apache.hadoop.yarn.client.api.YarnClient;
import org.apache.hadoop.yarn.client.api.async.AMRMClientAsync;
import org.apache.hadoop.yarn.client.api.impl.AMRMClientImpl;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.exceptions.ApplicationNotFoundException;
import org.apache.hadoop.yarn.exceptions.InvalidApplicationMasterRequestException;
import org.apache.hadoop.yarn.exceptions.YarnException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The real ResourceManager, by YARN's clients. While it cannot be reached, calls wait without
 * limit, but for {@link #nodes} and {@link #fateOf}. Its reports come on its own thread.
 */
final class YarnResourceManager implements ResourceManager {
  private static final Logger LOG = LoggerFactory.getLogger(YarnResourceManager.class);
  private static final int HEARTBEAT_MILLIS = 500;

  /** For how long a report is asked for; the next is asked for later. */
  private static final Duration REPORTS_MAX = Duration.ofSeconds(30);

  private final AMRMClientAsync<ContainerRequest> client;
  private final YarnClient reporter;
  private final YarnSettings settings;
  private final boolean portInNodeName;
  private final Map<SlotId, ContainerRequest> outstanding = new HashMap<>();

  YarnResourceManager(
      ProcessRuntime runtime, Configuration conf, YarnSettings settings, Listener listener) {
    this.settings = settings;
    this.portInNodeName =
        conf.getBoolean(
            YarnConfiguration.RM_SCHEDULER_INCLUDE_PORT_IN_NODE_NAME,
            YarnConfiguration.DEFAULT_RM_SCHEDULER_USE_PORT_FOR_NODE_NAME);
    Configuration patient = new YarnConfiguration(conf);
    patient.setLong(YarnConfiguration.RESOURCEMANAGER_CONNECT_MAX_WAIT_MS, -1);
    patient.setLong(YarnConfiguration.RESOURCEMANAGER_CONNECT_RETRY_INTERVAL_MS, 2_000);
    client =
        AMRMClientAsync.createAMRMClientAsync(
            new Heartbeats(runtime, listener), HEARTBEAT_MILLIS, new Callbacks(listener));
    client.init(patient);
    client.start();
    reporter = ResourceManagerClient.start(conf, REPORTS_MAX);
  }

  @Override
  public List<Container> register(String host, int port, String trackingUrl) throws IOException {
    try {
      RegisterApplicationMasterResponse response =
          client.registerApplicationMaster(host, port, trackingUrl);
      return response.getContainersFromPreviousAttempts();
    } catch (YarnException e) {
      throw new IOException("the ResourceManager did not register this attempt", e);
    }
  }

  @Override
  public void unregister(FinalApplicationStatus status, String message) throws IOException {
    try {
      client.unregisterApplicationMaster(status, message, "");
    } catch (YarnException e) {
      throw new IOException("the ResourceManager did not unregister this application", e);
    }
  }

  @Override
  public void request(Ask ask) {
    YarnSettings.Process process = settings.of(ask.slot().kind()).process();
    ContainerRequest.ContainerRequestBuilder request =
        ContainerRequest.newBuilder()
            .capability(Resource.newInstance(process.memoryMb(), process.vcores()))
            .priority(Priority.newInstance(ask.slot().kind().priority()))
            .allocationRequestId(ask.slot().allocationRequestId());
    if (ask.placement() instanceof Placement.OnNode onNode) {
      request.nodes(new String[] {onNode.node()}).relaxLocality(false);
    } else {
      request.relaxLocality(true);
    }
    ContainerRequest built = request.build();
    outstanding.put(ask.slot(), built);
    client.addContainerRequest(built);
  }

  @Override
  public void withdraw(SlotId slot) {
    ContainerRequest request = outstanding.remove(slot);
    if (request != null) {
      client.removeContainerRequest(request);
    }
  }

  @Override
  public void release(ContainerId id) {
    client.releaseAssignedContainer(id);
  }

  @Override
  public OptionalLong headroomMb() {
    Resource headroom = client.getAvailableResources();
    return headroom == null ? OptionalLong.empty() : OptionalLong.of(headroom.getMemorySize());
  }

  @Override
  public List<Node> nodes() throws IOException {
    try {
      List<Node> nodes = new ArrayList<>();
      for (NodeReport report :
          reporter.getNodeReports(NodeState.RUNNING, NodeState.DECOMMISSIONING)) {
        toNode(report).ifPresent(nodes::add);
      }
      return nodes;
    } catch (YarnException e) {
      throw new IOException("cannot list the nodes of the ResourceManager", e);
    }
  }

  @Override
  public ClusterClaim.Fate fateOf(String applicationId) throws IOException {
    try {
      return ClusterClaim.Fate.of(
          reporter.getApplicationReport(ApplicationId.fromString(applicationId)));
    } catch (ApplicationNotFoundException e) {
      return ClusterClaim.Fate.UNKNOWN;
    } catch (YarnException e) {
      throw new IOException(
          "cannot get a report on " + applicationId + " from the ResourceManager", e);
    }
  }

  @Override
  public Optional<Node> toNode(NodeReport report) {
    boolean leaving = report.getNodeState() == NodeState.DECOMMISSIONING;
    if (!leaving && report.getNodeState() != NodeState.RUNNING) {
      return Optional.empty();
    }
    long memory = report.getCapability().getMemorySize();
    long used = report.getUsed() == null ? 0 : report.getUsed().getMemorySize();
    Integer seconds = report.getDecommissioningTimeout(); // None, or negative: any time.
    Optional<Duration> timeToLeave =
        leaving && seconds != null && seconds >= 0
            ? Optional.of(Duration.ofSeconds(seconds))
            : Optional.empty();
    return Optional.of(
        new Node(
            nodeName(report.getNodeId()),
            leaving,
            timeToLeave,
            memory,
            report.getCapability().getVirtualCores(),
            memory - used));
  }

  @Override
  public String nodeName(NodeId id) {
    return portInNodeName ? id.getHost() + ":" + id.getPort() : id.getHost();
  }

  /** Tells which heartbeats were answered and which asks refused; YARN's client does not. */
  private static final class Heartbeats extends AMRMClientImpl<ContainerRequest> {
    private final ProcessRuntime runtime;
    private final Listener listener;

    Heartbeats(ProcessRuntime runtime, Listener listener) {
      this.runtime = runtime;
      this.listener = listener;
    }

    @Override
    protected void serviceStart() throws Exception {
      super.serviceStart();
      rmClient =
          new SeparatedAsks(
              rmClient,
              (id, reason) -> SlotId.of(id).ifPresent(slot -> listener.refused(slot, reason)));
    }

    @Override
    public AllocateResponse allocate(float progress) throws YarnException, IOException {
      long sentNanos = runtime.nanoTime();
      AllocateResponse response = super.allocate(progress);
      listener.answered(sentNanos);
      return response;
    }
  }

  /** Passes on what the client calls back with. */
  private static final class Callbacks extends AMRMClientAsync.AbstractCallbackHandler {
    private final Listener listener;

    Callbacks(Listener listener) {
      this.listener = listener;
    }

    @Override
    public void onContainersAllocated(List<Container> containers) {
      listener.allocated(containers);
    }

    @Override
    public void onContainersReceivedFromPreviousAttempts(List<Container> containers) {
      listener.recovered(containers);
    }

    @Override
    public void onContainersCompleted(List<ContainerStatus> statuses) {
      listener.completed(statuses);
    }

    @Override
    public void onContainersUpdated(List<UpdatedContainer> containers) {
      // We never ask for another size.
    }

    @Override
    public void onNodesUpdated(List<NodeReport> reports) {
      listener.nodesChanged(reports);
    }

    @Override
    public void onPreemptionMessageReceived(PreemptionMessage message) {
      // A contract that can be negotiated is met best by giving what would be taken: those
      // containers YARN chose in its own order, and any other would have to be drained, too.
      Set<ContainerId> wanted = new HashSet<>();
      if (message.getStrictContract() != null) {
        message.getStrictContract().getContainers().forEach(one -> wanted.add(one.getId()));
      }
      if (message.getContract() != null) {
        message.getContract().getContainers().forEach(one -> wanted.add(one.getId()));
      }
      listener.preempted(wanted);
    }

    @Override
    public void onShutdownRequest() {
      listener.shutDown("the ResourceManager knows of a later attempt, or of none");
    }

    @Override
    public float getProgress() {
      return 0; // A store is never done.
    }

    @Override
    public void onError(Throwable error) {
      // Comes for every heartbeat that failed; few failures are for good.
      if (error instanceof InvalidToken
          || error instanceof InvalidApplicationMasterRequestException) {
        listener.shutDown("the ResourceManager refuses this attempt: " + error);
      } else {
        LOG.warn("A heartbeat to the ResourceManager failed; will send the next", error);
      }
    }
  }
}
