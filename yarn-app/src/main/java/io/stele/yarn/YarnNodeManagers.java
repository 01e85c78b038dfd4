package io.stele.yarn;

import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.api.records.Container;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.ContainerLaunchContext;
import org.apache.hadoop.yarn.api.records.ContainerState;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.apache.hadoop.yarn.client.api.NMClient;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.exceptions.YarnException;

/**
 * The real NodeManagers, by YARN's client. A call blocks up to {@link #CONNECT_WAIT_MILLIS} on a
 * dead node.
 *
 * <p>Uses the synchronous client: the asynchronous one does not stop containers that an earlier
 * attempt started.
 */
final class YarnNodeManagers implements NodeManagers, AutoCloseable {
  private static final long CONNECT_WAIT_MILLIS = 20_000;

  private final NMClient client;

  YarnNodeManagers(Configuration conf) {
    Configuration impatient = new YarnConfiguration(conf);
    impatient.setLong(YarnConfiguration.CLIENT_NM_CONNECT_MAX_WAIT_MS, CONNECT_WAIT_MILLIS);
    impatient.setLong(YarnConfiguration.CLIENT_NM_CONNECT_RETRY_INTERVAL_MS, 1_000);
    client = NMClient.createNMClient();
    client.init(impatient);
    // The servers outlive an attempt of the ApplicationMaster.
    client.cleanupRunningContainersOnStop(false);
    client.start();
  }

  void start(Container container, ContainerLaunchContext context) throws IOException {
    try {
      client.startContainer(container, context);
    } catch (YarnException e) {
      throw new IOException(e.getMessage(), e);
    }
  }

  @Override
  public void stop(ContainerId id, NodeId node) throws IOException {
    try {
      client.stopContainer(id, node);
    } catch (YarnException e) {
      throw new IOException(e.getMessage(), e);
    }
  }

  @Override
  public boolean wasStarted(ContainerId id, NodeId node) throws IOException {
    try {
      return client.getContainerStatus(id, node).getState() != ContainerState.NEW;
    } catch (YarnException e) {
      if (String.valueOf(e.getMessage()).contains("is not handled by this NodeManager")) {
        return false;
      }
      throw new IOException(e.getMessage(), e);
    }
  }

  @Override
  public void close() {
    client.stop();
  }
}
