package io.stele.yarn;

import io.stele.runtime.Deadline;
import io.stele.runtime.Futures;
import io.stele.runtime.ProcessRuntime;
import java.io.IOException;
import java.net.ConnectException;
import java.time.Duration;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.api.records.Container;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.ContainerLaunchContext;
import org.apache.hadoop.yarn.api.records.ContainerState;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.apache.hadoop.yarn.client.api.NMClient;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.exceptions.NMNotYetReadyException;
import org.apache.hadoop.yarn.exceptions.YarnException;

/**
 * The real NodeManagers, by YARN's client. A call blocks for some 10 s on a dead node, up to {@link
 * #RESTART_WAIT} on one whose NodeManager does not run, and up to {@link #ANSWER_MILLIS} on one
 * that hangs.
 *
 * <p>Uses the synchronous client: the asynchronous one does not stop containers that an earlier
 * attempt started.
 */
final class YarnNodeManagers implements NodeManagers, AutoCloseable {
  private static final String ANSWER_TIMEOUT_KEY =
      YarnConfiguration.YARN_PREFIX + "rpc.nm-command-timeout";
  private static final int ANSWER_MILLIS = 20_000;

  /** A NodeManager that restarts is back within this. */
  private static final Duration RESTART_WAIT = Duration.ofSeconds(20);

  private static final Duration PAUSE = Duration.ofSeconds(1);

  private final ProcessRuntime runtime;
  private final NMClient client;

  YarnNodeManagers(ProcessRuntime runtime, Configuration conf) {
    this.runtime = runtime;
    Configuration impatient = new YarnConfiguration(conf);
    QuickConnects.configure(impatient);
    impatient.setInt(ANSWER_TIMEOUT_KEY, ANSWER_MILLIS);
    // Two attempts: on a connection that was open, and anew. By itself YARN's client counts
    // attempts
    // however long each takes.
    impatient.setLong(YarnConfiguration.CLIENT_NM_CONNECT_MAX_WAIT_MS, PAUSE.toMillis());
    impatient.setLong(YarnConfiguration.CLIENT_NM_CONNECT_RETRY_INTERVAL_MS, PAUSE.toMillis());
    client = NMClient.createNMClient();
    client.init(impatient);
    // The servers outlive an attempt of the ApplicationMaster.
    client.cleanupRunningContainersOnStop(false);
    client.start();
  }

  /** A call of a NodeManager. */
  private interface Call<R> {
    R make() throws YarnException, IOException;
  }

  /** Makes the call, again and again while the NodeManager is not there or has just begun. */
  private <R> R patiently(Call<R> call) throws YarnException, IOException {
    Deadline deadline = Deadline.after(runtime, RESTART_WAIT);
    while (true) {
      try {
        return call.make();
      } catch (ConnectException | NMNotYetReadyException e) {
        if (deadline.isOver()) {
          throw e;
        }
      }
      try {
        runtime.sleep(PAUSE);
      } catch (InterruptedException e) {
        throw Futures.interrupted(e, "calling a NodeManager");
      }
    }
  }

  void start(Container container, ContainerLaunchContext context) throws IOException {
    try {
      patiently(() -> client.startContainer(container, context));
    } catch (YarnException e) {
      throw new IOException(e.getMessage(), e);
    }
  }

  @Override
  public void stop(ContainerId id, NodeId node) throws IOException {
    try {
      patiently(
          () -> {
            client.stopContainer(id, node);
            return true;
          });
    } catch (YarnException e) {
      throw new IOException(e.getMessage(), e);
    }
  }

  @Override
  public boolean wasStarted(ContainerId id, NodeId node) throws IOException {
    try {
      return patiently(() -> client.getContainerStatus(id, node)).getState() != ContainerState.NEW;
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
