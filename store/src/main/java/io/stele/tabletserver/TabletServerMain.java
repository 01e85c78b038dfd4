package io.stele.tabletserver;

import com.sun.management.HotSpotDiagnosticMXBean;
import io.stele.config.ClusterConfig;
import io.stele.config.MemoryPlan;
import io.stele.config.ProcessMemory;
import io.stele.files.HdfsClientDefaults;
import io.stele.lock.CuratorLockService;
import io.stele.lock.LockService;
import io.stele.runtime.SystemRuntime;
import io.stele.wire.NetworkTransport;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.time.Duration;
import java.util.Optional;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The tablet-server process. Takes no arguments: its configuration is Hadoop's with {@code
 * stele-site.xml}, or the file that the environment names in {@code STELE_CONF}.
 *
 * <p>Exit status: 0 after it was drained; 1 if it could not start (the reason is on standard
 * error); 3 if it had to stop itself.
 */
public final class TabletServerMain {
  private static final Logger LOG = LoggerFactory.getLogger(TabletServerMain.class);
  private static final int CANNOT_START = 1;
  private static final int ENDED = 3;
  private static final Duration FAREWELL_MAX = Duration.ofSeconds(1);

  private TabletServerMain() {}

  /** Runs until the server is drained. */
  public static void main(String[] args) {
    int status = 0;
    try {
      Configuration conf = configuration(Optional.ofNullable(System.getenv("STELE_CONF")));
      TabletServer server = start(conf, Optional.ofNullable(System.getenv("NM_HOST")));
      server.await();
    } catch (InterruptedException | IOException | RuntimeException | Error e) {
      LOG.error("The tablet server cannot start", e);
      System.err.println("The tablet server cannot start: " + e.getMessage());
      status = CANNOT_START;
    }
    Runtime.getRuntime().halt(status); // Threads of libraries must not keep a process that is done.
  }

  /**
   * Ends the process, which answers nothing any more. With its session the lock goes at once, and
   * the master waits for nothing.
   */
  private static void end(LockService locks) {
    try {
      SystemRuntime.INSTANCE.after(FAREWELL_MAX, () -> Runtime.getRuntime().halt(ENDED));
      SystemRuntime.INSTANCE.start(
          "farewell",
          () -> {
            try {
              locks.close();
            } finally {
              Runtime.getRuntime().halt(ENDED);
            }
          });
    } catch (RuntimeException | Error e) {
      Runtime.getRuntime().halt(ENDED); // There is no thread to be had.
    }
  }

  /** What Java was told, or has chosen. */
  private static ProcessMemory memory() {
    HotSpotDiagnosticMXBean options =
        ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class);
    long heap = Long.parseLong(options.getVMOption("MaxHeapSize").getValue());
    long direct = Long.parseLong(options.getVMOption("MaxDirectMemorySize").getValue());
    return new ProcessMemory(heap, direct > 0 ? direct : heap); // Java's default, too.
  }

  private static Configuration configuration(Optional<String> file) {
    Configuration conf = new Configuration();
    conf.addResource("stele-site.xml");
    file.ifPresent(path -> conf.addResource(new Path("file://" + path)));
    HdfsClientDefaults.hedgeReads(conf);
    HdfsClientDefaults.shortenWaits(conf);
    HdfsClientDefaults.writeInLargeSteps(conf, MemoryPlan.streamBytes(memory()));
    return conf;
  }

  private static TabletServer start(Configuration conf, Optional<String> nodeHost)
      throws IOException, InterruptedException {
    ClusterConfig cluster = ClusterConfig.of(conf);
    FileSystem fs = cluster.root().getFileSystem(conf);
    String host =
        nodeHost.isPresent() ? nodeHost.get() : InetAddress.getLocalHost().getCanonicalHostName();
    LockService locks = CuratorLockService.connectServer(SystemRuntime.INSTANCE, cluster);
    TabletServer.Environment environment =
        new TabletServer.Environment(
            conf,
            SystemRuntime.INSTANCE,
            fs,
            locks,
            new NetworkTransport(conf, SystemRuntime.INSTANCE, host),
            memory(),
            Optional.ofNullable(System.getenv("CONTAINER_ID")),
            why -> {
              System.err.println("The tablet server stops: " + why);
              end(locks);
            });
    return ServerStart.start(environment);
  }
}
