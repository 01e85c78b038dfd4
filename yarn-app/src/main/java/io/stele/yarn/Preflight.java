package io.stele.yarn;

import io.stele.model.SteleException;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.CommonConfigurationKeysPublic;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsAction;
import org.apache.hadoop.security.AccessControlException;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.yarn.api.records.QueueInfo;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.client.api.YarnClient;
import org.apache.hadoop.yarn.conf.HAUtil;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.exceptions.YarnException;

/** Looks for problems that would make a start fail, and reports them before anything is changed. */
final class Preflight {
  private static final int CONNECT_MILLIS = 3_000;

  /** Attempts that outlast a node that fails every ApplicationMaster until YARN avoids it. */
  private static final int ATTEMPTS_ENOUGH = 10;

  /** The version of Hadoop that Stele is built for and tested with, without the last number. */
  private static final String HADOOP = "3.5";

  private Preflight() {}

  /**
   * What to tell where the class path has another Hadoop: it may lack what ours calls.
   *
   * @param version such as 3.5.0
   */
  static Optional<String> hadoopWarning(String version) {
    return version.startsWith(HADOOP + ".")
        ? Optional.empty()
        : Optional.of(
            "warning: this is Hadoop "
                + version
                + ", and Stele is built for and tested with Hadoop "
                + HADOOP
                + ": servers may fail with errors such as NoSuchMethodError");
  }

  /**
   * Refuses when this user may not write where the application's files go, and below which all data
   * goes.
   */
  static void rootIsWritable(FileSystem fs, ApplicationLayout layout) throws IOException {
    Path nearest = layout.archives();
    while (!mayWrite(fs, nearest, layout.root())) {
      nearest = nearest.getParent(); // It is made there.
    }
  }

  /**
   * Returns whether the directory exists.
   *
   * @throws SteleException REFUSED if the user may not write to it
   */
  private static boolean mayWrite(FileSystem fs, Path directory, Path root) throws IOException {
    try {
      fs.access(directory, FsAction.WRITE_EXECUTE);
      return true;
    } catch (FileNotFoundException e) {
      if (directory.isRoot()) {
        throw e;
      }
      return false;
    } catch (AccessControlException e) {
      String user = UserGroupInformation.getCurrentUser().getShortUserName();
      String path = root.toUri().getPath();
      throw new SteleException(
          SteleException.Code.REFUSED,
          "user "
              + user
              + " may not write to "
              + directory
              + " ("
              + e.getMessage()
              + "): if Stele is new here, have the superuser of HDFS run 'hdfs dfs -mkdir -p "
              + path
              + "' and 'hdfs dfs -chown "
              + user
              + " "
              + path
              + "', or set stele.root.dir to a directory that is yours; otherwise run this as the"
              + " user who runs the store",
          e);
    }
  }

  /**
   * Refuses Hadoop with Kerberos: servers run for longer than what they were given for HDFS is
   * valid, and could not renew it.
   */
  static void noKerberos() {
    if (UserGroupInformation.isSecurityEnabled()) {
      throw SteleException.refused(
          "Hadoop asks for Kerberos ("
              + CommonConfigurationKeysPublic.HADOOP_SECURITY_AUTHENTICATION
              + "), which Stele does not support: after some days its servers could no longer use"
              + " HDFS");
    }
  }

  /**
   * Refuses when no ResourceManager answers, at once: YARN's own client would try for a quarter of
   * an hour.
   */
  static void resourceManagerAnswers(Configuration conf) {
    if (isOneOfSeveral(conf)) {
      return; // Which of several is the active one is for the client to find.
    }
    InetSocketAddress address = resourceManager(conf);
    try (Socket socket = new Socket()) {
      socket.connect(
          new InetSocketAddress(address.getHostString(), address.getPort()), CONNECT_MILLIS);
    } catch (IOException e) {
      throw noAnswer(conf, e);
    }
  }

  /** That no ResourceManager answers, and what to do about it. */
  static SteleException noAnswer(Configuration conf, IOException failure) {
    return new SteleException(
        SteleException.Code.RETRY_LATER,
        "no YARN ResourceManager answers at "
            + resourceManagers(conf)
            + " ("
            + failure.getMessage()
            + "): start YARN, or correct yarn.resourcemanager.address (or .hostname) in"
            + " yarn-site.xml and check that HADOOP_CONF_DIR names its directory",
        failure);
  }

  /** The addresses at which clients look for the active one. */
  private static String resourceManagers(Configuration conf) {
    if (!isOneOfSeveral(conf)) {
      return hostAndPort(resourceManager(conf));
    }
    return HAUtil.getRMHAIds(conf).stream()
        .map(
            id -> {
              String host = conf.get(HAUtil.addSuffix(YarnConfiguration.RM_HOSTNAME, id), id);
              String usual = host + ":" + YarnConfiguration.DEFAULT_RM_PORT;
              return conf.get(HAUtil.addSuffix(YarnConfiguration.RM_ADDRESS, id), usual);
            })
        .collect(Collectors.joining(", "));
  }

  private static String hostAndPort(InetSocketAddress address) {
    return address.getHostString() + ":" + address.getPort();
  }

  private static boolean isOneOfSeveral(Configuration conf) {
    return conf.getBoolean(
        YarnConfiguration.RM_HA_ENABLED, YarnConfiguration.DEFAULT_RM_HA_ENABLED);
  }

  private static InetSocketAddress resourceManager(Configuration conf) {
    return conf.getSocketAddr(
        YarnConfiguration.RM_ADDRESS,
        YarnConfiguration.DEFAULT_RM_ADDRESS,
        YarnConfiguration.DEFAULT_RM_PORT);
  }

  /**
   * What to tell where YARN gives an ApplicationMaster few attempts: it then ends a healthy cluster
   * for a few failures in a row.
   *
   * @param conf which is taken for the ResourceManager's: nothing tells what that one has
   * @param window failures further apart than this do not count together
   */
  static Optional<String> attemptsWarning(Configuration conf, Duration window) {
    int attempts =
        conf.getInt(
            YarnConfiguration.RM_AM_MAX_ATTEMPTS, YarnConfiguration.DEFAULT_RM_AM_MAX_ATTEMPTS);
    int allowed = conf.getInt(YarnConfiguration.GLOBAL_RM_AM_MAX_ATTEMPTS, attempts);
    if (allowed >= ATTEMPTS_ENOUGH) {
      return Optional.empty();
    }
    return Optional.of(
        "warning: this YARN stops Stele with all its servers when its ApplicationMaster has failed "
            + allowed
            + " times within "
            + window.toMinutes()
            + " minutes; set "
            + YarnConfiguration.GLOBAL_RM_AM_MAX_ATTEMPTS
            + " to "
            + ATTEMPTS_ENOUGH
            + " or more in the ResourceManager's yarn-site.xml");
  }

  /** Refuses when the queue does not exist or is not open. */
  static void queueTakesApplications(YarnClient client, String queue) throws IOException {
    QueueInfo info;
    try {
      info = client.getQueueInfo(queue);
    } catch (YarnException e) {
      throw noQueue(client, queue, Optional.of(e));
    }
    if (info == null) {
      throw noQueue(client, queue, Optional.empty());
    }
    switch (info.getQueueState()) {
      case RUNNING -> {
        // It takes applications.
      }
      case STOPPED, DRAINING ->
          throw SteleException.refused(
              "the YARN queue \""
                  + queue
                  + "\" is "
                  + info.getQueueState()
                  + " and accepts no applications: start it, or set stele.yarn.queue to"
                  + " another");
    }
  }

  private static SteleException noQueue(YarnClient client, String queue, Optional<Exception> cause)
      throws IOException {
    List<String> names = new ArrayList<>();
    try {
      client.getAllQueues().forEach(info -> names.add(info.getQueueName()));
    } catch (YarnException e) {
      names.add("(not listed: " + e.getMessage() + ")");
    }
    SteleException refused =
        SteleException.refused(
            "YARN has no queue \""
                + queue
                + "\" (stele.yarn.queue); it has "
                + String.join(", ", names));
    cause.ifPresent(refused::initCause);
    return refused;
  }

  /** Refuses when YARN would never give a container of a size that we need. */
  static void containersFit(YarnSettings settings, Resource largest) {
    containerFits("stele.yarn.am", settings.master(), largest);
    for (Map.Entry<ComponentKind, YarnSettings.Component> kind : settings.kinds().entrySet()) {
      containerFits("stele.yarn." + kind.getKey().id(), kind.getValue().process(), largest);
    }
  }

  private static void containerFits(String key, YarnSettings.Process process, Resource largest) {
    if (process.memoryMb() > largest.getMemorySize()) {
      throw SteleException.refused(
          key
              + ".memory is "
              + process.memoryMb()
              + " MB, more than the largest container of this YARN ("
              + largest.getMemorySize()
              + " MB): lower it, or raise yarn.scheduler.maximum-allocation-mb and"
              + " yarn.nodemanager.resource.memory-mb");
    }
    if (process.vcores() > largest.getVirtualCores()) {
      throw SteleException.refused(
          key
              + ".vcores is "
              + process.vcores()
              + ", more than the largest container of this YARN ("
              + largest.getVirtualCores()
              + "): lower it, or raise yarn.scheduler.maximum-allocation-vcores and"
              + " yarn.nodemanager.resource.cpu-vcores");
    }
  }
}
