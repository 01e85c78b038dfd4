package io.stele.yarn;

import io.stele.config.ClusterConfig;
import io.stele.lock.CuratorLockService;
import io.stele.lock.LockService;
import io.stele.metadata.ServerInfo;
import io.stele.model.ServerId;
import io.stele.model.SteleException;
import io.stele.runtime.ProcessRuntime;
import java.io.IOException;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.yarn.api.protocolrecords.GetApplicationsRequest;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.ApplicationReport;
import org.apache.hadoop.yarn.api.records.YarnApplicationState;
import org.apache.hadoop.yarn.client.api.YarnClient;
import org.apache.hadoop.yarn.exceptions.ApplicationNotFoundException;
import org.apache.hadoop.yarn.exceptions.YarnException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds the YARN application of one cluster: the one that has the cluster according to the lock
 * service, or else one whose tag says that it was submitted for the cluster. It never goes by the
 * application's name, which others may use too.
 *
 * <p>Calls block. For use by one thread.
 */
final class ClusterApplications {
  /** What YARN calls our type of application. */
  static final String TYPE = "STELE";

  /** States of an application that has not ended. */
  static final Set<YarnApplicationState> ALIVE =
      EnumSet.of(
          YarnApplicationState.NEW,
          YarnApplicationState.NEW_SAVING,
          YarnApplicationState.SUBMITTED,
          YarnApplicationState.ACCEPTED,
          YarnApplicationState.RUNNING);

  private static final Logger LOG = LoggerFactory.getLogger(ClusterApplications.class);

  private final ProcessRuntime runtime;
  private final YarnClient client;
  private final ClusterConfig cluster;
  private final String tag;

  ClusterApplications(ProcessRuntime runtime, YarnClient client, Configuration conf)
      throws IOException {
    this.runtime = runtime;
    this.client = client;
    this.cluster = ClusterConfig.of(conf);
    Path root = cluster.root();
    this.tag = tag(root.getFileSystem(conf).makeQualified(root), cluster);
  }

  /** What an application of the cluster is tagged with. */
  String tag() {
    return tag;
  }

  private static String tag(Path root, ClusterConfig cluster) {
    ContentHash hash = new ContentHash();
    hash.add(root.toString()).add(cluster.zookeeperQuorum()).add(cluster.name());
    return "stele-cluster-" + hash.digits();
  }

  /** The running application of the cluster, or the one that is about to run; empty: none. */
  Optional<ApplicationReport> running() throws IOException {
    Optional<ApplicationReport> holder = Optional.empty();
    try {
      holder = lastHolder();
    } catch (IOException e) {
      LOG.warn("Cannot read from ZooKeeper which application runs the cluster", e);
    }
    Optional<ApplicationReport> alive =
        holder.filter(report -> ALIVE.contains(report.getYarnApplicationState()));
    return alive.isPresent() ? alive : submitted();
  }

  /** The application that last had the cluster, as far as YARN remembers it. */
  Optional<ApplicationReport> lastHolder() throws IOException {
    try (LockService locks = connect()) {
      return reportOf(new ClusterClaim(locks).holder());
    }
  }

  /** Whether the application has the cluster, so its ApplicationMaster has run. */
  boolean isHolder(ApplicationId id) throws IOException {
    try (LockService locks = connect()) {
      return new ClusterClaim(locks).holder().equals(Optional.of(id.toString()));
    }
  }

  /**
   * Refuses where an application has the cluster, or has been submitted for it.
   *
   * @throws SteleException REFUSED, with the application; RETRY_LATER if the lock service does not
   *     answer
   */
  void requireNone() throws IOException {
    Optional<ApplicationReport> running = running();
    if (running.isPresent()) {
      throw SteleException.refused(
          "cluster \""
              + cluster.name()
              + "\" is already running as "
              + running.get().getApplicationId()
              + ": look at it with 'stele yarn status', or stop it with 'stele yarn stop'");
    }
    try (LockService locks = connect()) {
      Optional<String> other = new ClusterClaim(locks).other("", this::fateOf);
      if (other.isPresent()) {
        throw SteleException.refused(
            "cluster \""
                + cluster.name()
                + "\" is served by processes of "
                + other.get()
                + ", which this YARN does not know: stop it where it runs. If it has just died, its"
                + " locks expire within "
                + cluster.sessionTimeout().toSeconds()
                + " s");
      }
    } catch (IOException e) {
      throw new SteleException(
          SteleException.Code.RETRY_LATER,
          "no ZooKeeper answers at "
              + cluster.zookeeperQuorum()
              + ": start it, or correct stele.zookeeper.quorum",
          e);
    }
  }

  /** The tablet server that runs in the container, once it has registered itself. */
  Optional<ServerId> serverIn(String container) throws IOException {
    try (LockService locks = connect()) {
      return ServerInfo.inContainer(locks, container).map(Map.Entry::getKey);
    }
  }

  private LockService connect() throws IOException {
    return CuratorLockService.connect(runtime, cluster);
  }

  /** What has become of the application. */
  ClusterClaim.Fate fateOf(String applicationId) throws IOException {
    return reportOf(Optional.of(applicationId))
        .map(ClusterClaim.Fate::of)
        .orElse(ClusterClaim.Fate.UNKNOWN);
  }

  /** What YARN knows of the application. */
  private Optional<ApplicationReport> reportOf(Optional<String> id) throws IOException {
    if (id.isEmpty()) {
      return Optional.empty();
    }
    try {
      return Optional.of(client.getApplicationReport(ApplicationId.fromString(id.get())));
    } catch (ApplicationNotFoundException e) {
      return Optional.empty();
    } catch (YarnException e) {
      throw new IOException("cannot get a report on " + id.get() + " from YARN", e);
    }
  }

  /** The first of those that were submitted for the cluster and have not ended. */
  private Optional<ApplicationReport> submitted() throws IOException {
    GetApplicationsRequest request =
        GetApplicationsRequest.newInstance(Set.of(TYPE), EnumSet.copyOf(ALIVE));
    request.setApplicationTags(Set.of(tag));
    try {
      return client.getApplications(request).stream()
          .min(Comparator.comparing(ApplicationReport::getApplicationId));
    } catch (YarnException e) {
      throw new IOException("cannot list the applications of YARN", e);
    }
  }
}
