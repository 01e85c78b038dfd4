package io.stele.yarn;

import java.io.IOException;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.NodeId;

/**
 * The ApplicationMaster's requests to YARN's NodeManagers. Every call blocks, so none is made on
 * the ApplicationMaster's own thread. Safe for use by several threads.
 */
interface NodeManagers {
  /** Kills the container's process. */
  void stop(ContainerId id, NodeId node) throws IOException;

  /**
   * Whether the container was ever started on its node.
   *
   * @throws IOException when the node does not say
   */
  boolean wasStarted(ContainerId id, NodeId node) throws IOException;
}
