package io.stele.yarn;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.DataOutputBuffer;
import org.apache.hadoop.security.Credentials;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.yarn.api.ApplicationConstants;
import org.apache.hadoop.yarn.api.ApplicationConstants.Environment;
import org.apache.hadoop.yarn.api.records.ContainerLaunchContext;
import org.apache.hadoop.yarn.api.records.LocalResource;
import org.apache.hadoop.yarn.api.records.LocalResourceType;
import org.apache.hadoop.yarn.api.records.LocalResourceVisibility;
import org.apache.hadoop.yarn.api.records.URL;
import org.apache.hadoop.yarn.conf.YarnConfiguration;

/**
 * Makes the launch context of our containers: what is fetched to the node, environment, class path
 * and command. The ApplicationMaster and its components are launched alike.
 */
final class Launch {
  /** Absolute name of the configuration file in a container. */
  static final String ENV_CONF = "STELE_CONF";

  /** The slot that a component fills, {@code tabletserver-1}. */
  static final String ENV_COMPONENT = "STELE_COMPONENT";

  static final String ENV_APPLICATION = "STELE_APPLICATION";

  /** To the ApplicationMaster: where the jars lie that it was submitted with. */
  static final String ENV_ARCHIVE = "STELE_ARCHIVE";

  /** To the ApplicationMaster: where the configuration lies that it was submitted with. */
  static final String ENV_CONFIGURATION = "STELE_CONFIGURATION";

  /**
   * A process without memory ends, and says so where YARN's diagnostics take the last words from.
   */
  static final List<String> OUT_OF_MEMORY_OPTIONS =
      List.of("-XX:+ExitOnOutOfMemoryError", "-XX:+DisplayVMOutputToStderr");

  /**
   * Memory in large pages, where the node's kernel has them: to touch memory for the first time is
   * what a server that recovers another's tablets does most, and on virtual machines each page
   * costs much. Java refuses the option where it does not know it.
   */
  static final String LARGE_PAGES =
      "$(test -e /sys/kernel/mm/transparent_hugepage/enabled"
          + " && echo -XX:+UseTransparentHugePages)";

  private static final String HADOOP_USER_NAME = "HADOOP_USER_NAME";

  private final Configuration conf;
  private final Deployment deployment;
  private final Map<String, LocalResource> resources;
  private final String applicationId;

  /**
   * Looks the files up on HDFS.
   *
   * @param conf whose {@code yarn.application.classpath} tells Hadoop's own jars on the nodes
   * @param deployment what containers are started with
   */
  Launch(Configuration conf, Deployment deployment, String applicationId) throws IOException {
    this.conf = conf;
    this.deployment = deployment;
    this.applicationId = applicationId;
    this.resources =
        Map.of(
            ApplicationLayout.LIB,
            resource(
                deployment.archive(), LocalResourceType.ARCHIVE, LocalResourceVisibility.PRIVATE),
            ApplicationLayout.CONF_FILE,
            resource(
                deployment.configuration(),
                LocalResourceType.FILE,
                LocalResourceVisibility.APPLICATION));
  }

  /** The same with another deployment; this one if it is not another. Looks files up like that. */
  Launch of(Deployment wanted) throws IOException {
    return wanted.equals(deployment) ? this : new Launch(conf, wanted, applicationId);
  }

  /**
   * The context of a container that runs {@code mainClass}.
   *
   * @param environment what it is given beside what all have
   * @param tokens what it may use of other services
   */
  ContainerLaunchContext context(
      String mainClass,
      YarnSettings.Process process,
      Map<String, String> environment,
      Credentials tokens)
      throws IOException {
    Map<String, String> all = new HashMap<>(environment);
    all.put(ENV_CONF, Environment.PWD.$$() + "/" + ApplicationLayout.CONF_FILE);
    all.put(ENV_APPLICATION, applicationId);
    all.put(Environment.CLASSPATH.key(), classPath());
    // Hadoop's native library, where the node has it.
    all.put(Environment.LD_LIBRARY_PATH.key(), Environment.HADOOP_COMMON_HOME.$$() + "/lib/native");
    if (!UserGroupInformation.isSecurityEnabled()) {
      all.put(HADOOP_USER_NAME, UserGroupInformation.getCurrentUser().getShortUserName());
    }
    return ContainerLaunchContext.newInstance(
        resources, all, List.of(command(mainClass, process)), null, bytesOf(tokens), null);
  }

  private String classPath() {
    List<String> path = new ArrayList<>();
    path.add(Environment.PWD.$$() + "/" + ApplicationLayout.LIB + "/*");
    String[] hadoop = conf.getTrimmedStrings(YarnConfiguration.YARN_APPLICATION_CLASSPATH);
    path.addAll(
        List.of(
            hadoop.length == 0
                ? YarnConfiguration.DEFAULT_YARN_CROSS_PLATFORM_APPLICATION_CLASSPATH
                : hadoop));
    return String.join(ApplicationConstants.CLASS_PATH_SEPARATOR, path);
  }

  private static String command(String mainClass, YarnSettings.Process process) {
    String logs = ApplicationConstants.LOG_DIR_EXPANSION_VAR;
    List<String> words = new ArrayList<>();
    // Without JAVA_HOME on the node the path decides. The process takes the shell's place, so that
    // a signal to the container is one to Java. Without the limit glibc reserves 64 MB for each of
    // many threads; it is set here, as what YARN sets on its nodes would be joined to it elsewhere.
    words.add("exec env MALLOC_ARENA_MAX=2 ${JAVA_HOME:+$JAVA_HOME/bin/}java");
    words.addAll(process.memoryOptions());
    words.add(LARGE_PAGES);
    words.addAll(OUT_OF_MEMORY_OPTIONS);
    words.add("-Dlog4j.configuration=stele-container-log4j.properties");
    words.add("-Dstele.log.dir=" + logs);
    if (!process.jvmOptions().isEmpty()) {
      words.add(process.jvmOptions());
    }
    words.add(mainClass);
    words.add("1>>" + logs + "/stdout");
    words.add("2>>" + logs + "/stderr");
    return String.join(" ", words);
  }

  private LocalResource resource(
      Path path, LocalResourceType type, LocalResourceVisibility visibility) throws IOException {
    FileSystem fs = path.getFileSystem(conf);
    FileStatus status = fs.getFileStatus(path);
    return LocalResource.newInstance(
        URL.fromPath(status.getPath()),
        type,
        visibility,
        status.getLen(),
        status.getModificationTime());
  }

  private static ByteBuffer bytesOf(Credentials tokens) throws IOException {
    try (DataOutputBuffer out = new DataOutputBuffer()) {
      tokens.writeTokenStorageToStream(out);
      return ByteBuffer.wrap(out.getData(), 0, out.getLength());
    }
  }
}
