package io.stele.cli.embedded;

import io.stele.runtime.Deadline;
import io.stele.runtime.Futures;
import io.stele.runtime.ProcessRuntime;
import io.stele.runtime.SystemRuntime;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.net.BindException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.zookeeper.server.ZooKeeperServerMain;

/**
 * ZooKeeper in a process of its own, which can be killed and suspended. It keeps its port and its
 * data from one start to the next. Like a container it carries the tag of the daemons' JVM in its
 * environment, and ends with the others that do. Not thread-safe.
 */
final class EmbeddedZooKeeper {
  private static final ProcessRuntime RUNTIME = SystemRuntime.INSTANCE;
  private static final Duration PATIENCE = Duration.ofMinutes(3); // Without it all is over.
  private static final Duration LOOK_EVERY = Duration.ofMillis(50);
  private static final int SILENCE_MAX_MILLIS = 1_000;

  // Below those that the system gives to whoever connects: nobody takes it while ZooKeeper is away.
  private static final int FIRST_PORT = 20_000;
  private static final int PORTS = 10_000;

  private final Path settings;
  private final Path logs;
  private final int port;
  private Process process;

  private EmbeddedZooKeeper(Path settings, Path logs, int port) throws IOException {
    this.settings = settings;
    this.logs = logs;
    this.port = port;
    this.process = launch();
  }

  /**
   * Starts one, and returns when it answers.
   *
   * @param directory of its data
   * @param logs where it says what it does
   */
  static EmbeddedZooKeeper startIn(Path directory, Path logs) throws IOException {
    Files.createDirectories(directory);
    int port = freePort();
    Path settings = directory.resolve("zoo.cfg");
    Files.writeString(
        settings,
        String.join(
            "\n",
            "tickTime=500",
            "minSessionTimeout=1000",
            "maxSessionTimeout=300000",
            "maxClientCnxns=500",
            "dataDir=" + directory.resolve("data"),
            "clientPort=" + port,
            "clientPortAddress=localhost",
            "admin.enableServer=false",
            "4lw.commands.whitelist=srvr",
            ""));
    return new EmbeddedZooKeeper(settings, logs, port);
  }

  private static int freePort() throws IOException {
    int first = (int) (ProcessHandle.current().pid() * 97 % PORTS);
    for (int i = 0; i < PORTS; i++) {
      int port = FIRST_PORT + (first + i) % PORTS;
      try (ServerSocket free = new ServerSocket(port, 1, InetAddress.getByName("localhost"))) {
        return free.getLocalPort();
      } catch (BindException e) {
        // Somebody has it: the next may be free.
      }
    }
    throw new IOException("no port is free for ZooKeeper from " + FIRST_PORT + " on");
  }

  private Process launch() throws IOException {
    List<String> command =
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-Xmx128m",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-XX:-UsePerfData",
            "-Xss512k",
            "-Djava.net.preferIPv4Stack=true",
            "-Dlog4j.configuration=io/stele/cli/embedded/log4j.properties",
            "-Dstele.embedded.log=" + logs.resolve("zookeeper.log"),
            "-cp",
            System.getProperty("java.class.path"),
            ZooKeeperServerMain.class.getName(),
            settings.toString());
    Path errors = logs.resolve("zookeeper.err");
    Process started =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(Redirect.appendTo(errors.toFile()))
            .start();
    Deadline deadline = Deadline.after(RUNTIME, PATIENCE);
    while (!answers()) {
      if (!started.isAlive() || deadline.isOver()) {
        started.destroyForcibly();
        throw new IOException("ZooKeeper does not answer: see " + logs + "/zookeeper.*");
      }
      pause();
    }
    return started;
  }

  private boolean answers() {
    try (Socket socket = new Socket("localhost", port)) {
      socket.setSoTimeout(SILENCE_MAX_MILLIS);
      socket.getOutputStream().write("srvr".getBytes(StandardCharsets.US_ASCII));
      return new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII)
          .contains("Mode: standalone");
    } catch (IOException e) {
      return false; // Not yet.
    }
  }

  private static void pause() throws IOException {
    try {
      RUNTIME.sleep(LOOK_EVERY);
    } catch (InterruptedException e) {
      throw Futures.interrupted(e, "waiting for ZooKeeper");
    }
  }

  /** Where it listens. */
  int port() {
    return port;
  }

  /** Ends it as {@code kill -9} does; it keeps what it has acknowledged. */
  void kill() throws IOException {
    try {
      process.destroyForcibly().waitFor();
    } catch (InterruptedException e) {
      throw Futures.interrupted(e, "killing ZooKeeper");
    }
  }

  /** Begins again where it was killed, and returns when it answers. */
  void start() throws IOException {
    process = launch();
  }

  /** Suspends it ({@code kill -STOP}): connections stay open, and are silent. */
  void stop() throws IOException {
    tagged().stop();
  }

  /** Has it go on. */
  void resume() throws IOException {
    tagged().resume();
  }

  private TaggedProcess tagged() {
    return new TaggedProcess(process.pid(), Map.of(), ZooKeeperServerMain.class.getName());
  }
}
