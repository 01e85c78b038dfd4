package io.stele.cli.embedded;

import java.nio.file.Path;
import java.util.List;
import org.apache.hadoop.conf.Configuration;

/**
 * Settings of an embedded Hadoop: small, quick to notice things, and with nothing of the machine's
 * own Hadoop in it.
 */
final class HadoopSettings {
  /** System property of the daemons' JVM: the class path that containers get. */
  static final String CONTAINER_CLASSPATH = "stele.embedded.classpath";

  /** Java reserves a gigabyte for classes otherwise, more than a small container may have. */
  private static final String SMALL_JVM =
      "-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:-UsePerfData -XX:CompressedClassSpaceSize=64m";

  /** What differs from Hadoop's defaults in daemons and clients alike. */
  private static final String[][] BOTH = {
    {"mapreduce.framework.name", "yarn"},
    {"yarn.app.mapreduce.am.staging-dir", "/tmp/hadoop-yarn/staging"},
    {"mapreduce.jobhistory.done-dir", "/mr-history/done"},
    {"mapreduce.jobhistory.intermediate-done-dir", "/mr-history/tmp"},
    {"mapreduce.jobhistory.move.interval-ms", "1000"},
    // Otherwise only our own containers would have Hadoop's jars, by inheriting the class path of
    // this JVM.
    {"yarn.is.minicluster", "false"},
    {"yarn.resourcemanager.am.max-attempts", "10"},
    {"yarn.resourcemanager.connect.retry-interval.ms", "500"},
    {"yarn.client.app-submission.poll-interval", "100"},
    {"yarn.client.application-client-protocol.poll-interval-ms", "100"},
    // Two NodeManagers of one host are otherwise one node to the scheduler.
    {"yarn.scheduler.include-port-in-node-name", "true"},
    {"yarn.app.mapreduce.am.resource.mb", "384"},
    {"yarn.app.mapreduce.am.command-opts", "-Xmx224m " + SMALL_JVM},
    {"mapreduce.map.memory.mb", "512"},
    {"mapreduce.reduce.memory.mb", "512"},
    {"mapred.child.java.opts", "-Xmx320m " + SMALL_JVM},
    {"mapreduce.task.io.sort.mb", "64"},
    {"yarn.app.mapreduce.am.scheduler.heartbeat.interval-ms", "200"},
    {"yarn.app.mapreduce.am.containerlauncher.threadpool-initial-size", "4"},
    {"mapreduce.client.completion.pollinterval", "200"},
    {"mapreduce.client.progressmonitor.pollinterval", "200"},
    {"mapreduce.job.ubertask.enable", "false"},
    // Few containers: a reducer that waits for maps, or a second attempt beside the first, keeps
    // others out.
    {"mapreduce.job.reduce.slowstart.completedmaps", "1.0"},
    {"mapreduce.map.speculative", "false"},
    {"mapreduce.reduce.speculative", "false"},
  };

  private static final String[][] DAEMONS = {
    {
      "hadoop.security.group.mapping",
      "org.apache.hadoop.security.JniBasedUnixGroupsMappingWithFallback"
    },
    {"dfs.namenode.safemode.extension", "0"},
    {"dfs.heartbeat.interval", "1"},
    {"dfs.namenode.heartbeat.recheck-interval", "2000"},
    {"dfs.namenode.handler.count", "8"},
    {"dfs.datanode.handler.count", "4"},
    {"dfs.datanode.scan.period.hours", "-1"},
    {"dfs.datanode.directoryscan.interval", "-1"},
    {"dfs.blockreport.initialDelay", "0"},
    {"yarn.nodemanager.aux-services", "mapreduce_shuffle"},
    // A container that takes more memory than it has is ended, as on every cluster; how that is
    // found out stays as it is by default. MiniYARNCluster would not look, and without cgroups
    // memory.enforced only keeps YARN from acting on what it sees.
    {"yarn.minicluster.control-resource-monitoring", "true"},
    {"yarn.nodemanager.resource.memory.enforced", "false"},
    {"yarn.nodemanager.resource.cpu-vcores", "16"},
    {"yarn.nodemanager.disk-health-checker.max-disk-utilization-per-disk-percentage", "99"},
    {"yarn.nodemanager.resourcemanager.minimum.version", "NONE"},
    {"yarn.nodemanager.localizer.client.thread-count", "4"},
    {"yarn.nodemanager.localizer.cache.target-size-mb", "2048"},
    {"yarn.resourcemanager.nodemanagers.heartbeat-interval-ms", "200"},
    {"yarn.resourcemanager.resource-tracker.client.thread-count", "4"},
    {"yarn.resourcemanager.scheduler.client.thread-count", "8"},
    {"yarn.resourcemanager.client.thread-count", "8"},
    {"yarn.resourcemanager.am.max-attempts", "10"},
    {"yarn.scheduler.minimum-allocation-mb", "64"},
    {"yarn.scheduler.capacity.root.queues", "default"},
    {"yarn.scheduler.capacity.root.default.capacity", "100"},
    {"yarn.scheduler.capacity.root.default.user-limit-factor", "10"},
    {"yarn.scheduler.capacity.maximum-am-resource-percent", "0.9"},
    // All nodes are this machine: to wait for a better one is to wait for nothing.
    {"yarn.scheduler.capacity.node-locality-delay", "0"},
    {"yarn.scheduler.capacity.rack-locality-additional-delay", "-1"},
    {"yarn.log-aggregation-enable", "false"},
    {"yarn.timeline-service.enabled", "false"},
    {"mapreduce.shuffle.port", "0"},
    {"mapreduce.shuffle.max.threads", "4"},
    {"mapreduce.jobhistory.address", "localhost:0"},
    {"mapreduce.jobhistory.admin.address", "localhost:0"},
    {"mapreduce.jobhistory.webapp.address", "localhost:0"},
    {"mapreduce.jobhistory.client.thread-count", "4"},
  };

  /** Where the daemons are, as they tell it after they have started. */
  private static final List<String> ADDRESSES =
      List.of(
          "yarn.resourcemanager.hostname",
          "yarn.resourcemanager.address",
          "yarn.resourcemanager.scheduler.address",
          "yarn.resourcemanager.resource-tracker.address",
          "yarn.resourcemanager.admin.address",
          "yarn.resourcemanager.webapp.address");

  private static final int REPLICAS_MAX = 3;
  private static final String REPLICAS = "dfs.replication";
  private static final String SUBMIT_REPLICAS = "mapreduce.client.submit.file.replication";
  private static final String REPLACE_POLICY =
      "dfs.client.block.write.replace-datanode-on-failure.policy";

  /** What depends on the number of DataNodes. */
  private static final List<String> REPLICATION =
      List.of(REPLICAS, SUBMIT_REPLICAS, REPLACE_POLICY);

  private HadoopSettings() {}

  /** What the daemons are started with. */
  static Configuration ofDaemons(
      Path directory, int dataNodes, int nodeManagers, int nodeManagerMb) {
    Configuration conf = new Configuration();
    set(conf, BOTH);
    set(conf, DAEMONS);
    setReplication(conf, dataNodes);
    conf.set("hadoop.tmp.dir", directory.resolve("tmp").toString());
    conf.set("dfs.datanode.hostname", "localhost");
    conf.setInt("yarn.nodemanager.resource.memory-mb", nodeManagerMb);
    // MiniYARNCluster overrides the former by this one.
    conf.setInt("yarn.minicluster.yarn.nodemanager.resource.memory-mb", nodeManagerMb);
    conf.setInt("yarn.scheduler.maximum-allocation-mb", nodeManagerMb);
    conf.set(
        "yarn.nodemanager.admin-env",
        "MALLOC_ARENA_MAX=1," + ProcessTag.VARIABLE + "=" + ProcessTag.of(directory).value());
    setClasspath(conf);
    return conf;
  }

  /** What clients need to reach the daemons; everything else is as Hadoop has it by default. */
  static Configuration ofClients(Configuration daemons, Configuration yarn, Configuration history) {
    Configuration conf = new Configuration(false);
    set(conf, BOTH);
    REPLICATION.forEach(key -> conf.set(key, daemons.get(key)));
    conf.set("fs.defaultFS", daemons.get("fs.defaultFS"));
    conf.set("hadoop.tmp.dir", daemons.get("hadoop.tmp.dir"));
    ADDRESSES.forEach(key -> conf.setIfUnset(key, yarn.get(key, "")));
    history.forEach(entry -> conf.set(entry.getKey(), entry.getValue()));
    setClasspath(conf);
    return conf;
  }

  private static void setReplication(Configuration conf, int dataNodes) {
    conf.setInt(REPLICAS, Math.min(dataNodes, REPLICAS_MAX));
    conf.setInt(SUBMIT_REPLICAS, Math.min(dataNodes, REPLICAS_MAX));
    // Where all have a block, none is left to take the place of one that fails.
    conf.set(REPLACE_POLICY, dataNodes > REPLICAS_MAX ? "DEFAULT" : "NEVER");
  }

  private static void setClasspath(Configuration conf) {
    String classpath = System.getProperty(CONTAINER_CLASSPATH);
    conf.set("yarn.application.classpath", classpath);
    conf.set("mapreduce.application.classpath", classpath);
  }

  private static void set(Configuration conf, String[][] settings) {
    for (String[] setting : settings) {
      conf.set(setting[0], setting[1]);
    }
  }
}
