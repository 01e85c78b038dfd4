package io.stele.yarn;

import io.stele.config.ClusterConfig;
import io.stele.config.Key;
import io.stele.config.Keys;
import java.util.EnumMap;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;

/**
 * What the configuration says of the YARN application.
 *
 * @param cluster the cluster's name
 * @param root the directory of all data, not yet made absolute
 * @param master the ApplicationMaster's own container
 * @param kinds size and number of each kind of component
 */
record YarnSettings(
    String cluster,
    Path root,
    String queue,
    Process master,
    Map<ComponentKind, Component> kinds,
    Situation.Limits limits) {
  private static final long MIB = 1L << 20;

  /** The size of one container and what is added to its java command. */
  record Process(long memoryMb, int vcores, String jvmOptions) {}

  /** How many containers of a size to keep running at first. */
  record Component(int count, Process process) {}

  /**
   * Reads and checks all {@code stele.*} keys.
   *
   * @throws io.stele.model.SteleException REFUSED, with the key, its value and what it takes
   */
  static YarnSettings of(Configuration conf) {
    ClusterConfig cluster = ClusterConfig.of(conf);
    Map<ComponentKind, Component> kinds = new EnumMap<>(ComponentKind.class);
    kinds.put(
        ComponentKind.MASTER,
        new Component(
            Keys.YARN_MASTER_COUNT.in(conf),
            process(
                conf,
                Keys.YARN_MASTER_MEMORY,
                Keys.YARN_MASTER_VCORES.in(conf),
                Keys.YARN_MASTER_JVM_OPTIONS)));
    kinds.put(
        ComponentKind.TABLET_SERVER,
        new Component(
            Keys.YARN_TABLETSERVER_COUNT.in(conf),
            process(
                conf,
                Keys.YARN_TABLETSERVER_MEMORY,
                Keys.YARN_TABLETSERVER_VCORES.in(conf),
                Keys.YARN_TABLETSERVER_JVM_OPTIONS)));
    return new YarnSettings(
        cluster.name(),
        cluster.root(),
        Keys.YARN_QUEUE.in(conf),
        process(conf, Keys.YARN_AM_MEMORY, 1, Keys.YARN_AM_JVM_OPTIONS),
        kinds,
        new Situation.Limits(
            Keys.YARN_NODE_WAIT.in(conf),
            Keys.YARN_DRAIN_TIMEOUT.in(conf),
            Keys.YARN_FAILURES_MAX.in(conf),
            kinds.entrySet().stream()
                .collect(
                    Collectors.toMap(Map.Entry::getKey, e -> e.getValue().process().memoryMb()))));
  }

  YarnSettings {
    kinds = Map.copyOf(kinds);
  }

  /** The name that YARN shows, by which the application of a cluster is found. */
  String applicationName() {
    return "stele-" + cluster;
  }

  private static Process process(
      Configuration conf, Key<Long> memory, int vcores, Key<String> jvmOptions) {
    return new Process(memory.in(conf) / MIB, vcores, jvmOptions.in(conf));
  }
}
