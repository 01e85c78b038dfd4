package io.stele.yarn;

import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import org.apache.hadoop.yarn.api.records.Container;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.ContainerStatus;
import org.apache.hadoop.yarn.api.records.FinalApplicationStatus;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.apache.hadoop.yarn.api.records.NodeReport;

/**
 * The ApplicationMaster's requests to YARN's ResourceManager: to give and take back containers, and
 * to report nodes and applications.
 *
 * <p>Confined to the ApplicationMaster's thread except for {@link #nodes()} and {@link #fateOf},
 * which block; what it reports goes to a {@link Listener}.
 */
interface ResourceManager extends ClusterClaim.Applications {
  /** Hears what YARN reports. Its methods only note it: they neither block nor throw. */
  interface Listener {
    void allocated(List<Container> containers);

    void recovered(List<Container> containers);

    /** The slot's request cannot be met as YARN is now: to be withdrawn, and made again later. */
    void refused(SlotId slot, String reason);

    void completed(List<ContainerStatus> statuses);

    void nodesChanged(List<NodeReport> reports);

    /** YARN preempts these containers: it takes them away soon, for another queue. */
    void preempted(Set<ContainerId> containers);

    /**
     * A heartbeat of this attempt was answered.
     *
     * @param sentNanos when it was sent, by the runtime's clock
     */
    void answered(long sentNanos);

    /** YARN shuts this attempt down: to exit without unregistering. */
    void shutDown(String reason);
  }

  /** Registers this attempt; returns the containers that the one before it left. */
  List<Container> register(String host, int port, String trackingUrl) throws IOException;

  /** Ends the application. */
  void unregister(FinalApplicationStatus status, String message) throws IOException;

  void request(Ask ask);

  /**
   * Withdraws the slot's request, even if it was met: otherwise it is made again after a failover.
   */
  void withdraw(SlotId slot);

  void release(ContainerId id);

  /**
   * Our headroom, the memory that our queue still has for us, by the last answer; does not block.
   */
  OptionalLong headroomMb();

  /** All nodes that run or are about to leave; safe to call from any thread. */
  List<Node> nodes() throws IOException;

  /** The node of a report; empty when it is not of use any more. */
  Optional<Node> toNode(NodeReport report);

  /** What requests call the node. */
  String nodeName(NodeId id);
}
