package io.stele.yarn;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.ChildJvm;
import io.stele.Ports;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.nodemanager.NodeManager;

/**
 * A NodeManager in a process of its own, which can be killed: its containers then go on, as on a
 * real node. It keeps its port when it starts again. Close it.
 */
final class NodeManagerProcess implements AutoCloseable {
  /** Names the configuration of the process. */
  private static final String CONF = "STELE_TEST_NODE_CONF";

  private final Path directory;
  private final int port;
  private Process process;

  /** Starts it with its files in {@code directory}. */
  NodeManagerProcess(Path directory, Configuration yarn) throws IOException {
    this.directory = Files.createDirectories(directory);
    this.port = Ports.free();
    for (boolean recovery : List.of(true, false)) {
      Configuration conf = new Configuration(yarn);
      conf.set(YarnConfiguration.NM_ADDRESS, "localhost:" + port);
      conf.set(YarnConfiguration.NM_LOCALIZER_ADDRESS, "localhost:0");
      conf.set(YarnConfiguration.NM_WEBAPP_ADDRESS, "localhost:0");
      conf.set(YarnConfiguration.NM_LOCAL_DIRS, directory.resolve("local").toString());
      conf.set(YarnConfiguration.NM_LOG_DIRS, directory.resolve("logs").toString());
      conf.setBoolean(YarnConfiguration.NM_RECOVERY_ENABLED, recovery);
      conf.setBoolean(YarnConfiguration.NM_RECOVERY_SUPERVISED, recovery);
      conf.set(YarnConfiguration.NM_RECOVERY_DIR, directory.resolve("recovery").toString());
      try (OutputStream out = Files.newOutputStream(confFile(recovery))) {
        conf.writeXml(out);
      }
    }
    start(true);
  }

  private Path confFile(boolean recovery) {
    return directory.resolve(recovery ? "with-recovery.xml" : "without-recovery.xml");
  }

  /** Starts it again, to find its containers or to know of none. */
  void start(boolean recovery) throws IOException {
    process =
        ChildJvm.start(
            ChildJvm.shortLived("128m"),
            NodeManagerProcess.class,
            List.of(),
            Map.of(CONF, confFile(recovery).toString()),
            directory.resolve("nodemanager.log"));
  }

  /** What the process runs. */
  public static void main(String[] args) {
    Configuration conf = new YarnConfiguration();
    conf.addResource(new org.apache.hadoop.fs.Path("file://" + System.getenv(CONF)));
    NodeManager node = new NodeManager();
    node.init(conf);
    node.start();
  }

  /** Its port, by which its node is known. */
  int port() {
    return port;
  }

  /** Whether this is the node of that name. */
  boolean isNode(String name) {
    return name.endsWith(":" + port);
  }

  /** kill -9. */
  void kill() throws Exception {
    process.destroyForcibly().waitFor();
  }

  /** Suspends the process or lets it go on. */
  static void signal(String signal, long pid) throws Exception {
    Process kill = new ProcessBuilder("kill", "-" + signal, Long.toString(pid)).start();
    assertThat(kill.waitFor()).isZero();
  }

  long pid() {
    return process.pid();
  }

  @Override
  public void close() {
    process.destroyForcibly();
  }
}
