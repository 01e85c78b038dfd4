package io.stele.yarn;

import java.io.IOException;
import java.security.PrivilegedExceptionAction;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.security.token.Token;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.ApplicationSubmissionContext;
import org.apache.hadoop.yarn.api.records.Container;
import org.apache.hadoop.yarn.api.records.ContainerLaunchContext;
import org.apache.hadoop.yarn.api.records.ContainerStatus;
import org.apache.hadoop.yarn.api.records.NodeReport;
import org.apache.hadoop.yarn.api.records.Priority;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.api.records.UpdatedContainer;
import org.apache.hadoop.yarn.client.api.AMRMClient.ContainerRequest;
import org.apache.hadoop.yarn.client.api.YarnClient;
import org.apache.hadoop.yarn.client.api.async.AMRMClientAsync;
import org.apache.hadoop.yarn.security.AMRMTokenIdentifier;
import org.apache.hadoop.yarn.util.Records;

/**
 * Another application on the same YARN. It has no processes: this one is its ApplicationMaster, and
 * what it is given it leaves empty. Close it.
 */
final class OtherApplication implements AutoCloseable {
  private final YarnClient yarn = YarnClient.createYarnClient();
  private final ApplicationId id;
  private Optional<AMRMClientAsync<ContainerRequest>> master = Optional.empty();

  /** Submits it. */
  OtherApplication(Configuration conf, String queue, int priority, Set<String> tags)
      throws Exception {
    yarn.init(conf);
    yarn.start();
    ApplicationSubmissionContext context =
        yarn.createApplication().getApplicationSubmissionContext();
    context.setApplicationName("other");
    context.setQueue(queue);
    context.setPriority(Priority.newInstance(priority));
    context.setApplicationTags(tags);
    context.setUnmanagedAM(true);
    context.setResource(Resource.newInstance(64, 1));
    context.setAMContainerSpec(Records.newRecord(ContainerLaunchContext.class));
    id = yarn.submitApplication(context);
  }

  ApplicationId id() {
    return id;
  }

  /** Asks for containers, and keeps what it is given. */
  void ask(Configuration conf, int containers, long memoryMb) throws Exception {
    Token<AMRMTokenIdentifier> token =
        Components.await("a token", () -> Optional.ofNullable(yarn.getAMRMToken(id)));
    UserGroupInformation user =
        UserGroupInformation.createRemoteUser(
            UserGroupInformation.getCurrentUser().getShortUserName());
    user.addToken(token);
    master =
        Optional.of(
            user.doAs(
                (PrivilegedExceptionAction<AMRMClientAsync<ContainerRequest>>)
                    () -> registered(conf, containers, Resource.newInstance(memoryMb, 1))));
  }

  /**
   * It asks before its first heartbeat: what it asks for after one would be in addition to all that
   * it was given.
   */
  private static AMRMClientAsync<ContainerRequest> registered(
      Configuration conf, int containers, Resource size) throws Exception {
    AMRMClientAsync<ContainerRequest> client =
        AMRMClientAsync.createAMRMClientAsync(300, new Nothing());
    client.init(conf);
    client.start();
    for (int i = 0; i < containers; i++) {
      client.addContainerRequest(new ContainerRequest(size, null, null, Priority.newInstance(1)));
    }
    client.registerApplicationMaster("localhost", 0, "");
    return client;
  }

  /** Ends it: all that it was given is free again. */
  @Override
  public void close() throws IOException {
    try {
      yarn.killApplication(id);
    } catch (org.apache.hadoop.yarn.exceptions.YarnException e) {
      throw new IOException(e);
    } finally {
      master.ifPresent(AMRMClientAsync::stop);
      yarn.stop();
    }
  }

  /** Does nothing with what it is given. */
  private static final class Nothing extends AMRMClientAsync.AbstractCallbackHandler {
    @Override
    public void onContainersAllocated(List<Container> containers) {}

    @Override
    public void onContainersCompleted(List<ContainerStatus> statuses) {}

    @Override
    public void onContainersUpdated(List<UpdatedContainer> containers) {}

    @Override
    public void onNodesUpdated(List<NodeReport> reports) {}

    @Override
    public void onShutdownRequest() {}

    @Override
    public void onError(Throwable error) {}

    @Override
    public float getProgress() {
      return 0;
    }
  }
}
