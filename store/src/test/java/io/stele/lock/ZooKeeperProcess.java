package io.stele.lock;

import io.stele.ChildJvm;
import io.stele.Ports;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.server.ZooKeeperServerMain;

/**
 * A ZooKeeper server in a process of its own, that can be killed, started again on the same data
 * and port, and made to stand still.
 *
 * <p>For one thread.
 */
public final class ZooKeeperProcess implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private final Path directory;
  private final int port;
  private Process process;

  /** A server that answers; its shortest session is twice {@code tick}. */
  public static ZooKeeperProcess start(Path directory, Duration tick)
      throws IOException, InterruptedException {
    int port = Ports.free();
    Files.createDirectories(directory);
    Files.writeString(
        directory.resolve("zoo.cfg"),
        String.join(
            "\n",
            "tickTime=" + tick.toMillis(),
            "dataDir=" + directory.resolve("data"),
            "clientPort=" + port,
            "clientPortAddress=127.0.0.1",
            "maxClientCnxns=0",
            "admin.enableServer=false",
            "4lw.commands.whitelist=srvr",
            ""));
    ZooKeeperProcess server = new ZooKeeperProcess(directory, port);
    server.start();
    return server;
  }

  private ZooKeeperProcess(Path directory, int port) {
    this.directory = directory;
    this.port = port;
  }

  /** Its address, as a quorum of one. */
  public String quorum() {
    return "127.0.0.1:" + port;
  }

  /** Starts it, after {@link #kill}, and returns when it answers. */
  public void start() throws IOException, InterruptedException {
    process =
        ChildJvm.start(
            ChildJvm.shortLived("128m"),
            ZooKeeperServerMain.class,
            List.of(directory.resolve("zoo.cfg").toString()),
            directory.resolve("zookeeper.log"));
    awaitAnswer();
  }

  /** Kills it: it writes and says nothing more. */
  public void kill() throws InterruptedException {
    process.destroyForcibly().waitFor();
  }

  /** Has it stand still: it accepts connections, as the machine does that for it, and is silent. */
  public void stop() throws IOException, InterruptedException {
    signal("STOP");
  }

  /** Has it go on, and returns when it answers. */
  public void goOn() throws IOException, InterruptedException {
    signal("CONT");
    awaitAnswer();
  }

  private void signal(String name) throws IOException, InterruptedException {
    Process kill =
        new ProcessBuilder(List.of("kill", "-" + name, Long.toString(process.pid())))
            .inheritIO()
            .start();
    if (kill.waitFor() != 0) {
      throw new IOException("cannot send " + name + " to process " + process.pid());
    }
  }

  private void awaitAnswer() throws IOException, InterruptedException {
    long start = System.nanoTime();
    while (!answers()) {
      if (!process.isAlive() || System.nanoTime() - start > PATIENCE.toNanos()) {
        throw new IOException(
            "ZooKeeper does not answer: " + Files.readString(directory.resolve("zookeeper.log")));
      }
      TimeUnit.MILLISECONDS.sleep(20);
    }
  }

  private boolean answers() {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      socket.setSoTimeout(1000);
      socket.getOutputStream().write("srvr".getBytes(StandardCharsets.US_ASCII));
      return new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII)
          .contains("Mode: standalone");
    } catch (IOException e) {
      return false;
    }
  }

  @Override
  public void close() {
    process.destroyForcibly();
  }
}
