package io.stele.cli;

import io.stele.config.Keys;
import io.stele.lock.CuratorLockService;
import io.stele.lock.LockService;
import io.stele.runtime.SystemRuntime;
import io.stele.sim.CrashableDisk;
import io.stele.sim.MiniStele;
import io.stele.sim.Site;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.zookeeper.server.ServerCnxnFactory;
import org.apache.zookeeper.server.ZooKeeperServer;

/** A cluster in this JVM, which commands find through ZooKeeper as any. Close it. */
final class CommandCluster implements AutoCloseable {
  private static final Duration SESSION = Duration.ofSeconds(10);

  private final Path directory;
  private final ServerCnxnFactory zookeeper;
  private final MiniStele cluster;

  /** Starts it, with its files in {@code scratch}. */
  CommandCluster(Path scratch) throws Exception {
    Path data = Files.createDirectory(scratch.resolve("zookeeper"));
    zookeeper = ServerCnxnFactory.createFactory(new InetSocketAddress("localhost", 0), 100);
    zookeeper.startup(new ZooKeeperServer(data.toFile(), data.toFile(), 500));
    String quorum = "localhost:" + zookeeper.getLocalPort();
    Configuration conf = MiniStele.quick(new Configuration(false));
    conf.set(Keys.SESSION_TIMEOUT.name(), SESSION.toSeconds() + "s");
    conf.set(Keys.LEASE.name(), "5s"); // A busy machine must not end the server.
    conf.set(Keys.ZOOKEEPER_QUORUM.name(), quorum);
    conf.set(Keys.CLUSTER_NAME.name(), "test");
    directory = Files.createDirectory(scratch.resolve("conf"));
    try (OutputStream site = Files.newOutputStream(directory.resolve("stele-site.xml"))) {
      conf.writeXml(site);
    }
    try {
      cluster = MiniStele.start(conf, site(quorum), 1, 1);
    } catch (IOException | RuntimeException e) {
      zookeeper.shutdown();
      throw e;
    }
  }

  private static Site site(String quorum) {
    CrashableDisk disk = new CrashableDisk();
    return new Site() {
      @Override
      public FileSystem mount() {
        return disk.mount();
      }

      @Override
      public LockService connect() throws IOException {
        return CuratorLockService.connect(SystemRuntime.INSTANCE, quorum, "test", SESSION);
      }

      @Override
      public void kill(FileSystem view, RandomGenerator random) {
        // What it leaves behind nobody looks at.
      }
    };
  }

  MiniStele cluster() {
    return cluster;
  }

  /** Runs a command against it. */
  Ran run(String... command) {
    List<String> arguments = new ArrayList<>(List.of(command));
    int end = arguments.contains("--") ? arguments.indexOf("--") : arguments.size();
    arguments.addAll(end, List.of("--conf", directory.toString()));
    return Ran.of(arguments);
  }

  @Override
  public void close() {
    cluster.close();
    zookeeper.shutdown();
  }
}
