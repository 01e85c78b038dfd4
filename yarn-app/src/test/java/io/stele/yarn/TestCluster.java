package io.stele.yarn;

import io.stele.ChildJvm;
import io.stele.config.Key;
import io.stele.config.Keys;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.apache.curator.test.TestingServer;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileUtil;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.MiniYARNCluster;
import org.apache.hadoop.yarn.server.resourcemanager.RMContext;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.RMAppEvent;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.RMAppEventType;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainerState;

/** A real YARN and a real HDFS in this process, and the processes that it started. */
final class TestCluster implements AutoCloseable {
  private final MiniDFSCluster dfs;
  private final MiniYARNCluster yarn;
  private final int nodes;
  private final Path directory;

  /** With two nodes. */
  TestCluster(Path directory) throws IOException {
    this(directory, 2, new YarnConfiguration());
  }

  /** With so many nodes, and what {@code wanted} asks for. */
  TestCluster(Path directory, int nodes, Configuration wanted) throws IOException {
    this.directory = directory;
    this.nodes = nodes;
    wanted.set(MiniDFSCluster.HDFS_MINIDFS_BASEDIR, directory.resolve("dfs").toString());
    dfs = new MiniDFSCluster.Builder(wanted).numDataNodes(1).build();
    // Both NodeManagers are on one host: only with their ports are they two nodes to the scheduler.
    wanted.setBoolean(YarnConfiguration.RM_SCHEDULER_INCLUDE_PORT_IN_NODE_NAME, true);
    wanted.setInt(YarnConfiguration.RM_SCHEDULER_MINIMUM_ALLOCATION_MB, 64);
    // Containers that take too much memory are ended, as on every cluster: MiniYARNCluster would
    // not look, and without cgroups memory.enforced keeps YARN from acting on what it sees.
    wanted.setBoolean("yarn.minicluster.control-resource-monitoring", true);
    wanted.setBoolean("yarn.nodemanager.resource.memory.enforced", false);
    wanted.setInt(YarnConfiguration.RM_AM_MAX_ATTEMPTS, 10);
    // Small and idle, it can tell at once what happens, and look for what is away often.
    wanted.setInt(YarnConfiguration.RM_NM_HEARTBEAT_INTERVAL_MS, 200);
    wanted.setInt(YarnConfiguration.RESOURCEMANAGER_CONNECT_RETRY_INTERVAL_MS, 500);
    // A NodeManager that stops waits for the end of its applications, and an application has ended
    // when its logs are deleted.
    wanted.setLong(YarnConfiguration.NM_LOG_RETAIN_SECONDS, 0);
    wanted.set("yarn.scheduler.capacity.maximum-am-resource-percent", "0.9");
    wanted.setInt(
        "yarn.nodemanager.disk-health-checker.max-disk-utilization-per-disk-percentage", 99);
    yarn = new MiniYARNCluster("stele", nodes, 1, 1);
    yarn.init(wanted);
    yarn.start();
  }

  /**
   * What a client of the cluster is given: for small processes.
   *
   * @param zooKeeper the lock service of the application
   */
  Configuration conf(TestingServer zooKeeper) {
    Configuration conf = new Configuration(yarn.getConfig());
    conf.set("stele.zookeeper.quorum", zooKeeper.getConnectString());
    conf.set("stele.yarn.am.memory", "384m");
    conf.set("stele.yarn.master.memory", "384m");
    conf.set("stele.yarn.tabletserver.memory", "384m");
    conf.set("stele.tabletserver.cache.bytes", "8m");
    for (Key<String> options :
        List.of(
            Keys.YARN_AM_JVM_OPTIONS,
            Keys.YARN_MASTER_JVM_OPTIONS,
            Keys.YARN_TABLETSERVER_JVM_OPTIONS)) {
      conf.set(options.name(), String.join(" ", ChildJvm.SHORT_LIVED));
    }
    return conf;
  }

  /** Stand-ins for all servers, which only run. */
  static StartOptions placeholders(Path jar) {
    return StartOptions.of(List.of(jar))
        .withMain(ComponentKind.MASTER, Placeholder.class)
        .withMain(ComponentKind.TABLET_SERVER, Placeholder.class)
        .withTimeout(Duration.ofSeconds(90));
  }

  /** A jar with nothing in it: containers of this cluster have this process's class path. */
  Path emptyJar() throws IOException {
    Path jar = directory.resolve("placeholder.jar");
    try (ZipOutputStream zip = new ZipOutputStream(Files.newOutputStream(jar))) {
      zip.putNextEntry(new ZipEntry("placeholder.txt"));
      zip.write("nothing".getBytes(StandardCharsets.UTF_8));
    }
    return jar;
  }

  /** Java processes started by this YARN, by the directory they log to. */
  Collection<ProcessHandle> processes() {
    String root = yarn.getTestWorkDir().getAbsolutePath();
    try (Stream<ProcessHandle> all = ProcessHandle.allProcesses()) {
      return all.filter(
              process ->
                  commandLine(process).contains("-Dstele.log.dir=")
                      && commandLine(process).contains(root))
          .toList();
    }
  }

  static String commandLine(ProcessHandle process) {
    return process.info().arguments().map(words -> String.join(" ", words)).orElse("");
  }

  /** YARN's own daemons. */
  MiniYARNCluster yarn() {
    return yarn;
  }

  /** Whether a NodeManager has reported the container as running. */
  boolean isRunningToYarn(String container) {
    return yarn.getResourceManager()
            .getResourceScheduler()
            .getRMContainer(ContainerId.fromString(container))
            .getState()
        == RMContainerState.RUNNING;
  }

  /** So that no other ApplicationMaster is begun for one that is killed. */
  private void killApplications() {
    RMContext resourceManager = yarn.getResourceManager().getRMContext();
    for (ApplicationId id : resourceManager.getRMApps().keySet()) {
      resourceManager
          .getDispatcher()
          .getEventHandler()
          .handle(new RMAppEvent(id, RMAppEventType.KILL, "the cluster is stopped"));
    }
  }

  /** Stops all, and kills what is left. */
  @Override
  public void close() {
    killApplications();
    processes().forEach(ProcessHandle::destroyForcibly);
    // Not by MiniYARNCluster, which would wait for the ApplicationMasters that were killed.
    for (int i = 0; i < nodes; i++) {
      yarn.getNodeManager(i).stop();
    }
    yarn.getResourceManager().stop();
    dfs.shutdown();
    processes().forEach(ProcessHandle::destroyForcibly);
    FileUtil.fullyDelete(yarn.getTestWorkDir());
  }
}
