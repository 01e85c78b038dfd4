package io.stele.yarn;

import io.stele.config.ClusterConfig;
import io.stele.config.Key;
import io.stele.config.Keys;
import io.stele.config.MemoryPlan;
import io.stele.config.ProcessMemory;
import io.stele.config.TabletServerConfig;
import io.stele.model.SteleException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.zookeeper.client.ConnectStringParser;

/**
 * The settings of the YARN application, from the configuration.
 *
 * @param cluster the cluster's name, root directory and lock service
 * @param master the ApplicationMaster's own container
 * @param kinds size and number of each kind of component
 */
record YarnSettings(
    ClusterConfig cluster,
    String queue,
    Process master,
    Map<ComponentKind, Component> kinds,
    ApplicationSnapshot.Limits limits) {
  private static final long MIB = 1L << 20;

  /** Containers below this have no room to spare, for the collector, code and classes. */
  private static final long SMALL_MB = 2048;

  /**
   * The size of one container and what is added to its java command.
   *
   * @param memoryMb all of its memory
   * @param cacheOffHeapMb the part of it that a cache off the heap takes
   */
  record Process(long memoryMb, long cacheOffHeapMb, int vcores, String jvmOptions) {
    ApplicationSnapshot.Size size() {
      return new ApplicationSnapshot.Size(memoryMb, vcores);
    }

    /**
     * The heap: what is left beside the cache off the heap and the room that Java needs for
     * classes, code and threads, and the network for its buffers.
     */
    long heapMb() {
      return memoryMb - cacheOffHeapMb - Math.max(Math.min(192, memoryMb / 2), memoryMb / 4);
    }

    /** Memory off the heap that the process may ask for. */
    long directMb() {
      return cacheOffHeapMb + Math.max(32, memoryMb / 8);
    }

    /** The same in a container of {@code givenMb}: YARN rounds up what it is asked for. */
    Process in(long givenMb) {
      return new Process(Math.max(givenMb, memoryMb), cacheOffHeapMb, vcores, jvmOptions);
    }

    /**
     * Java's options for a container of this size: so that neither what the process uses is more
     * than the container has, nor what it reserves more than the 2.1 times of it that YARN allows
     * by default. Of itself Java reserves 1 GB for classes and 240 MB for code.
     */
    List<String> memoryOptions() {
      List<String> options = new ArrayList<>();
      options.add("-Xmx" + heapMb() + "m");
      options.add("-XX:MaxDirectMemorySize=" + directMb() + "m");
      options.add("-XX:CompressedClassSpaceSize=" + (memoryMb < SMALL_MB ? 32 : 128) + "m");
      options.add("-XX:MaxMetaspaceSize=" + (memoryMb < SMALL_MB ? 128 : 256) + "m");
      options.add("-XX:ReservedCodeCacheSize=" + (memoryMb < SMALL_MB ? 48 : 240) + "m");
      if (memoryMb < SMALL_MB) {
        options.add("-XX:+UseSerialGC");
      }
      return List.copyOf(options);
    }
  }

  /** How many containers of a size to keep running at first. */
  record Component(int count, Process process) {}

  /** The directory of all data, not yet made absolute. */
  Path root() {
    return cluster.root();
  }

  /** Size and number of one kind of component. */
  Component of(ComponentKind kind) {
    return Objects.requireNonNull(kinds.get(kind), () -> "no settings of " + kind);
  }

  /**
   * Reads and checks all {@code stele.*} keys.
   *
   * @throws SteleException REFUSED, with the key, its value and what it takes
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
                0,
                Keys.YARN_MASTER_MEMORY,
                Keys.YARN_MASTER_VCORES.in(conf),
                Keys.YARN_MASTER_JVM_OPTIONS)));
    Process tabletServer =
        process(
            conf,
            (TabletServerConfig.cacheOffHeapBytes(conf) + MIB - 1) / MIB,
            Keys.YARN_TABLETSERVER_MEMORY,
            Keys.YARN_TABLETSERVER_VCORES.in(conf),
            Keys.YARN_TABLETSERVER_JVM_OPTIONS);
    checkMemory(conf, tabletServer);
    kinds.put(
        ComponentKind.TABLET_SERVER,
        new Component(Keys.YARN_TABLETSERVER_COUNT.in(conf), tabletServer));
    return new YarnSettings(
        cluster,
        Keys.YARN_QUEUE.in(conf),
        process(conf, 0, Keys.YARN_AM_MEMORY, 1, Keys.YARN_AM_JVM_OPTIONS),
        kinds,
        new ApplicationSnapshot.Limits(
            Keys.YARN_NODE_WAIT.in(conf),
            Keys.YARN_DRAIN_TIMEOUT.in(conf),
            Keys.YARN_FAILURES_MAX.in(conf),
            Duration.ofMillis(
                conf.getLong(
                        YarnConfiguration.RM_AM_EXPIRY_INTERVAL_MS,
                        YarnConfiguration.DEFAULT_RM_AM_EXPIRY_INTERVAL_MS)
                    / 2),
            Duration.ofMillis(
                conf.getLong(
                    YarnConfiguration.RM_NM_EXPIRY_INTERVAL_MS,
                    YarnConfiguration.DEFAULT_RM_NM_EXPIRY_INTERVAL_MS)),
            kinds.entrySet().stream()
                .collect(Collectors.toMap(Map.Entry::getKey, e -> e.getValue().process().size()))));
  }

  YarnSettings {
    kinds = Map.copyOf(kinds);
  }

  /** A tablet server started so would refuse: better said before anything runs. */
  private static void checkMemory(Configuration conf, Process process) {
    boolean asOptionsSay =
        process.jvmOptions().contains("-Xmx")
            || process.jvmOptions().contains("MaxDirectMemorySize");
    if (!asOptionsSay) { // Otherwise the server will see.
      MemoryPlan.of(conf, new ProcessMemory(process.heapMb() * MIB, process.directMb() * MIB));
    }
  }

  /**
   * Refuses settings under which processes would be started in another way: with other memory or
   * other options than these.
   */
  void requireSameProcesses(YarnSettings others) {
    for (ComponentKind kind : ComponentKind.values()) {
      Process ours = of(kind).process();
      Process theirs = others.of(kind).process();
      if (!theirs.equals(ours)) {
        throw SteleException.refused(
            "a "
                + kind.id()
                + " would need "
                + theirs
                + ", and this application starts it with "
                + ours
                + ": leave the settings stele.yarn.* and those of the cache off the heap as they"
                + " were, or stop Stele and start it with the new ones");
      }
    }
  }

  /**
   * Refuses another lock service: the ApplicationMaster keeps its own and would not find processes
   * that have registered elsewhere.
   */
  void requireSameLockService(YarnSettings others) {
    if (!ZooKeeperServers.of(others.cluster).equals(ZooKeeperServers.of(cluster))) {
      throw SteleException.refused(
          "this application finds its processes through ZooKeeper at "
              + cluster.zookeeperQuorum()
              + ", not at "
              + others.cluster.zookeeperQuorum()
              + ": leave "
              + Keys.ZOOKEEPER_QUORUM.name()
              + " as it was, or stop Stele and start it with the new one");
    }
  }

  /** In any order, and with the port that is not written, they are the same. */
  private record ZooKeeperServers(Set<InetSocketAddress> addresses, String chroot) {
    static ZooKeeperServers of(ClusterConfig cluster) {
      ConnectStringParser parser = new ConnectStringParser(cluster.zookeeperQuorum());
      return new ZooKeeperServers(
          Set.copyOf(parser.getServerAddresses()),
          Optional.ofNullable(parser.getChrootPath()).orElse(""));
    }
  }

  /** The name that YARN shows, by which the application of a cluster is found. */
  String applicationName() {
    return "stele-" + cluster.name();
  }

  private static Process process(
      Configuration conf,
      long cacheOffHeapMb,
      Key<Long> memory,
      int vcores,
      Key<String> jvmOptions) {
    Process process =
        new Process(memory.in(conf) / MIB, cacheOffHeapMb, vcores, jvmOptions.in(conf));
    if (process.heapMb() < process.memoryMb() / 4) {
      throw SteleException.refused(
          "configuration key "
              + memory.name()
              + " is "
              + process.memoryMb()
              + "m, of which the cache would use "
              + cacheOffHeapMb
              + "m off the heap and leave "
              + process.heapMb()
              + "m for the heap, less than a quarter; raise it, or lower "
              + Keys.CACHE_BYTES.name()
              + " or "
              + Keys.CACHE_OFF_HEAP_PERCENT.name());
    }
    return process;
  }
}
