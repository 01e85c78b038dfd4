package io.stele.config;

import java.time.Duration;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;

/**
 * Where a cluster's data and its lock service are. Both clients and servers need this.
 *
 * @param name the cluster's name
 * @param root the directory of all data, not yet made absolute
 * @param zookeeperQuorum servers, host:port, separated by commas
 * @param sessionTimeout how long a session with the lock service may be silent
 * @param lease how long a tablet server may answer after a successful write to the lock service
 */
public record ClusterConfig(
    String name, Path root, String zookeeperQuorum, Duration sessionTimeout, Duration lease) {
  /** Reads and checks all {@code stele.*} keys of {@code conf}. */
  public static ClusterConfig of(Configuration conf) {
    Keys.check(conf);
    return new ClusterConfig(
        Keys.CLUSTER_NAME.in(conf),
        new Path(Keys.ROOT_DIR.in(conf)),
        Keys.ZOOKEEPER_QUORUM.in(conf),
        Keys.SESSION_TIMEOUT.in(conf),
        Keys.LEASE.in(conf));
  }
}
