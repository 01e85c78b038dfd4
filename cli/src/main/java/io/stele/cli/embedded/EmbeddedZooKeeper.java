package io.stele.cli.embedded;

import io.stele.runtime.Futures;
import java.io.File;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.zookeeper.server.ServerCnxnFactory;
import org.apache.zookeeper.server.ZooKeeperServer;

/**
 * ZooKeeper in this JVM. It keeps its port and its data from one start to the next. Not
 * thread-safe.
 */
final class EmbeddedZooKeeper {
  private static final int TICK_MILLIS = 500;
  private static final int CONNECTIONS_MAX = 500;

  private final File data;
  private int port; // 0: any.
  private ServerCnxnFactory connections;

  private EmbeddedZooKeeper(Path directory) throws IOException {
    this.data = Files.createDirectories(directory).toFile();
    this.connections = open();
  }

  /** Starts one with its data in {@code directory}. */
  static EmbeddedZooKeeper startIn(Path directory) throws IOException {
    return new EmbeddedZooKeeper(directory);
  }

  private ServerCnxnFactory open() throws IOException {
    ZooKeeperServer server = new ZooKeeperServer(data, data, TICK_MILLIS);
    server.setMinSessionTimeout(1_000);
    server.setMaxSessionTimeout(300_000);
    try {
      ServerCnxnFactory opened =
          ServerCnxnFactory.createFactory(
              new InetSocketAddress("localhost", port), CONNECTIONS_MAX);
      opened.startup(server);
      port = opened.getLocalPort();
      return opened;
    } catch (InterruptedException e) {
      throw Futures.interrupted(e, "starting ZooKeeper");
    }
  }

  /** Where it listens. */
  int port() {
    return port;
  }

  /** Cuts off all clients, and keeps what it knows. */
  void stop() {
    connections.shutdown();
  }

  /** Begins again where it stopped. */
  void start() throws IOException {
    connections = open();
  }
}
