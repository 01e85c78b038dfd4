package io.stele.cli.embedded;

import io.stele.runtime.AtExit;
import io.stele.runtime.Futures;
import io.stele.runtime.ProcessRuntime;
import io.stele.runtime.SystemRuntime;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.apache.hadoop.conf.Configuration;

/**
 * A real Hadoop on this one machine: HDFS, YARN with several NodeManagers and the MapReduce history
 * server in one JVM of their own, ZooKeeper and containers in processes of their own.
 *
 * <p>Everything lies in one work directory, which the start empties; at most one runs in a
 * directory. No process outlives it: not when it is closed, not when this JVM ends or is killed
 * (the daemons notice and end, and the shell around them ends the containers), and what even that
 * left is ended by the next start in the same directory.
 *
 * <pre>{@code
 * try (EmbeddedHadoop hadoop = EmbeddedHadoop.start(EmbeddedHadoop.Options.in(directory))) {
 *   Configuration conf = hadoop.configuration();   // fs.defaultFS, YARN, MapReduce and stele.zookeeper.quorum
 *   ...
 * }
 * }</pre>
 *
 * <p>Safe for use by any number of threads.
 */
public final class EmbeddedHadoop implements AutoCloseable {
  private static final Duration END = Duration.ofSeconds(20);

  private final Path directory;
  private final Process shell;
  private final ProcessTag tag;
  private final AtExit atExit;
  private volatile boolean detached;

  private EmbeddedHadoop(Path directory, Process shell) {
    this.directory = directory;
    this.shell = shell;
    this.tag = ProcessTag.of(directory);
    this.atExit = SystemRuntime.atExit("embedded-hadoop-end", () -> endQuietly(shell, tag));
  }

  /**
   * How to run it.
   *
   * @param directory where everything lies; made if it is not there, emptied of what the last one
   *     left
   * @param dataNodes 1 to 9; a block is on three of them, or on all
   * @param nodeManagers 1 to 9
   * @param nodeManagerMb what each NodeManager has for containers, in MB
   * @param heapMb the largest heap of the daemons' JVM, in MB
   * @param timeout until when it must be up
   */
  public record Options(
      Path directory,
      int dataNodes,
      int nodeManagers,
      int nodeManagerMb,
      int heapMb,
      Duration timeout) {
    /** The most DataNodes. */
    public static final int DATA_NODES_MAX = 9;

    public Options {
      directory = WorkDirectory.checked(directory);
      checkCount("DataNodes", dataNodes);
      checkCount("NodeManagers", nodeManagers);
    }

    private static void checkCount(String what, int count) {
      if (count < 1 || count > 9) {
        throw new IllegalArgumentException(
            "an embedded Hadoop has 1 to 9 " + what + ", not " + count);
      }
    }

    /** One DataNode, and two NodeManagers of 2.5 GB each. */
    public static Options in(Path directory) {
      return new Options(directory, 1, 2, 2560, 768, Duration.ofMinutes(3));
    }

    /** With that many DataNodes. */
    public Options withDataNodes(int count) {
      return new Options(directory, count, nodeManagers, nodeManagerMb, heapMb, timeout);
    }

    /** With that many NodeManagers, each with {@code mb} MB for containers. */
    public Options withNodeManagers(int count, int mb) {
      return new Options(directory, dataNodes, count, mb, heapMb, timeout);
    }
  }

  /** Starts it, and returns when it takes jobs. */
  public static EmbeddedHadoop start(Options options) throws IOException {
    return start(options, daemon -> {});
  }

  /**
   * Starts it, and returns when it takes jobs.
   *
   * @param up is told the name of each daemon that has come up
   * @throws IOException if one already runs in the directory, or it does not come up in time; the
   *     message says why, and which log tells more
   * @throws io.stele.model.SteleException REFUSED if the directory has files of others
   */
  public static EmbeddedHadoop start(Options options, Consumer<String> up) throws IOException {
    Path directory = options.directory();
    WorkDirectory.claim(directory);
    if (isRunning(directory)) {
      throw new IOException("an embedded Hadoop already runs in " + directory);
    }
    ProcessTag.of(directory).sweep(END);
    WorkDirectory.empty(directory);
    Files.createDirectories(logDirectory(directory));
    EmbeddedHadoop hadoop = new EmbeddedHadoop(directory, launch(options));
    try {
      hadoop.awaitReady(options.timeout(), up);
    } catch (IOException | RuntimeException e) {
      hadoop.close();
      throw e;
    }
    return hadoop;
  }

  /**
   * Takes a directory for an embedded Hadoop, before anything else is written there. {@link #start}
   * does it too.
   *
   * @throws io.stele.model.SteleException REFUSED if Hadoop cannot work there, or it has files of
   *     others
   */
  public static void claim(Path directory) throws IOException {
    WorkDirectory.claim(directory);
  }

  /** Whether one runs in {@code directory}, started by this process or another. */
  public static boolean isRunning(Path directory) throws IOException {
    if (!Files.exists(lockFile(directory))) {
      return false;
    }
    try (FileChannel channel = FileChannel.open(lockFile(directory), StandardOpenOption.WRITE);
        FileLock lock = channel.tryLock()) {
      return lock == null;
    }
  }

  /**
   * Ends the one that runs in {@code directory}, whoever started it, with all its containers.
   *
   * @return how many processes were ended; 0: none ran there
   */
  public static int end(Path directory) throws IOException {
    return ProcessTag.of(directory).sweep(END);
  }

  /**
   * The processes of the one in {@code directory}, whoever started it: the daemons' JVM, ZooKeeper
   * and everything in containers.
   */
  public static List<TaggedProcess> processes(Path directory) {
    return ProcessTag.of(directory).processes();
  }

  /**
   * Has the one in {@code directory} be without a part of it, and returns when that is back.
   *
   * @param time how long, at least
   * @param which of several, such as DataNodes, counted round; from 0 on
   * @return which of several was away; empty if there is one
   * @throws IOException if it cannot be without that part, or does not answer
   */
  public static String beWithout(Path directory, Outage outage, Duration time, int which)
      throws IOException {
    return new OutageRequests(directory).ask(new OutageRequests.Wanted(outage, time, which));
  }

  /**
   * What clients of the one in {@code directory} need: Hadoop's defaults, nothing of the machine's
   * own Hadoop, and the file that the daemons wrote.
   *
   * @throws IOException if none has come up there
   */
  public static Configuration configuration(Path directory) throws IOException {
    Path file = configurationFile(directory);
    if (!Files.exists(file)) {
      throw new IOException(
          "no embedded Hadoop has come up in " + directory + ": there is no " + file);
    }
    Configuration conf = new Configuration();
    conf.addResource(new org.apache.hadoop.fs.Path(file.toUri()));
    return conf;
  }

  /**
   * The file that tells clients of the one in {@code directory} how to reach it; not there before
   * it is up.
   */
  public static Path configurationFile(Path directory) {
    return directory.resolve("hadoop-client.xml");
  }

  /** Where the one in {@code directory} writes what would otherwise be on the console. */
  public static Path logDirectory(Path directory) {
    return directory.resolve("logs");
  }

  static Path lockFile(Path directory) {
    return directory.resolve("lock");
  }

  /** A new configuration by which clients reach it. */
  public Configuration configuration() {
    try {
      return configuration(directory);
    } catch (IOException e) {
      throw new UncheckedIOException(e); // It was there when it came up.
    }
  }

  /** Its work directory. */
  public Path directory() {
    return directory;
  }

  /**
   * Its processes: the daemons' JVM, ZooKeeper and everything in containers, without the shell
   * around the first.
   */
  public List<TaggedProcess> processes() {
    return tag.processes();
  }

  /** Lets it live on when this is closed and when this JVM ends. {@link #end} ends it then. */
  public void detach() throws IOException {
    tell("detach");
    detached = true;
    atExit.cancel();
    shell.getInputStream().close();
  }

  /**
   * Ends it with all its containers; what it held is gone, its logs stay. Ending it again does
   * nothing.
   */
  @Override
  public void close() throws IOException {
    if (detached) {
      return;
    }
    atExit.cancel();
    endAll(shell, tag);
  }

  private static void endAll(Process shell, ProcessTag tag) throws IOException {
    shell.destroy(); // SIGTERM: it kills the daemons' JVM, then the containers.
    try {
      if (!shell.waitFor(10, TimeUnit.SECONDS)) {
        shell.destroyForcibly();
      }
    } catch (InterruptedException e) {
      Futures.interruptAgain();
      shell.destroyForcibly();
    }
    tag.sweep(END);
  }

  private static void endQuietly(Process shell, ProcessTag tag) {
    try {
      endAll(shell, tag);
    } catch (IOException e) {
      System.err.println("stele: " + e.getMessage());
    }
  }

  private void tell(String word) throws IOException {
    OutputStream out = shell.getOutputStream();
    out.write((word + "\n").getBytes(StandardCharsets.UTF_8));
    out.flush();
  }

  private static Process launch(Options options) throws IOException {
    Path directory = options.directory();
    Path logs = logDirectory(directory);
    ClassPaths classPaths = ClassPaths.find(directory);
    List<String> command = new ArrayList<>();
    command.addAll(List.of("bash", "-c", script(), "daemons.sh", ProcessTag.of(directory).value()));
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(
        List.of(
            "-Xmx" + options.heapMb() + "m",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-XX:-UsePerfData",
            "-Xss512k"));
    command.add("-Djava.net.preferIPv4Stack=true");
    command.add("-Dzookeeper.admin.enableServer=false");
    command.add("-Djava.io.tmpdir=" + Files.createDirectories(directory.resolve("tmp")));
    command.add("-Dhadoop.log.dir=" + logs);
    command.add("-Dlog4j.configuration=io/stele/cli/embedded/log4j.properties");
    command.add("-Dstele.embedded.log=" + logs.resolve("hadoop.log"));
    command.add("-D" + HadoopSettings.CONTAINER_CLASSPATH + "=" + classPaths.containers());
    command.addAll(
        List.of("-cp", classPaths.daemons(), HadoopDaemons.class.getName(), directory.toString()));
    command.add(Integer.toString(options.dataNodes()));
    command.add(Integer.toString(options.nodeManagers()));
    command.add(Integer.toString(options.nodeManagerMb()));
    ProcessBuilder builder = new ProcessBuilder(command).directory(directory.toFile());
    builder.redirectError(Redirect.to(logs.resolve("hadoop.err").toFile()));
    // What the machine's own Hadoop, if there is one, would change.
    builder
        .environment()
        .keySet()
        .removeIf(
            name ->
                name.startsWith("HADOOP_")
                    || name.startsWith("YARN_")
                    || name.startsWith("STELE_"));
    builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
    builder.environment().put("LC_ALL", "C.UTF-8");
    return builder.start();
  }

  private static String script() throws IOException {
    try (InputStream in = EmbeddedHadoop.class.getResourceAsStream("daemons.sh")) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  private void awaitReady(Duration timeout, Consumer<String> up) throws IOException {
    CompletableFuture<String> failure = new CompletableFuture<>();
    ProcessRuntime runtime = SystemRuntime.INSTANCE;
    runtime.start(
        "embedded-hadoop-start",
        () -> failure.completeAsync(() -> readUntilReady(up), Runnable::run));
    String why;
    try {
      why =
          runtime.await(failure, timeout)
              ? runtime.await(failure)
              : "it was not up after " + timeout.toSeconds() + " s";
    } catch (InterruptedException e) {
      Futures.interruptAgain();
      why = "interrupted";
    } catch (ExecutionException e) {
      if (Futures.cause(e) instanceof UncheckedIOException unsaid) {
        throw unsaid; // Whoever hears what is up could not show it.
      }
      why = Futures.cause(e).toString();
    }
    if (!why.isEmpty()) {
      throw new IOException(
          "embedded Hadoop did not start: "
              + why
              + "; see "
              + logDirectory(directory).resolve("hadoop.log"));
    }
  }

  /** Empty when it is up, else why it is not. */
  private String readUntilReady(Consumer<String> up) {
    BufferedReader in =
        new BufferedReader(new InputStreamReader(shell.getInputStream(), StandardCharsets.UTF_8));
    try {
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        if (line.equals("ready")) {
          return "";
        } else if (line.startsWith("failed ")) {
          return line.substring("failed ".length());
        } else if (line.startsWith("up ")) {
          up.accept(line.substring("up ".length()));
        }
      }
      return "its JVM ended" + lastWords();
    } catch (IOException e) {
      return e.toString();
    }
  }

  private String lastWords() throws IOException {
    Path errors = logDirectory(directory).resolve("hadoop.err");
    List<String> lines = Files.exists(errors) ? Files.readAllLines(errors) : List.of();
    return lines.isEmpty() ? "" : " (" + lines.get(lines.size() - 1).strip() + ")";
  }

  /** The class paths of the daemons and of the containers. */
  private record ClassPaths(String daemons, String containers) {
    /** Jars that no machine's Hadoop has: containers must not see them by accident. */
    private static final List<String> OURS =
        List.of(
            "stele-",
            "aircompressor-",
            "caffeine-",
            "zstd-jni-",
            "picocli-",
            "assertj-",
            "archunit-");

    /**
     * In the distribution (system property {@code stele.home}) its library directories; else, in a
     * test, that of this JVM, of which containers get what is not ours.
     */
    static ClassPaths find(Path directory) throws IOException {
      String home = System.getProperty("stele.home", "");
      String own = System.getProperty("java.class.path");
      if (!home.isEmpty() && Files.isDirectory(Path.of(home, "lib", "hadoop"))) {
        String hadoop = Path.of(home, "lib", "hadoop") + "/*";
        boolean fromDistribution = own.contains(Path.of(home, "lib").toString());
        return new ClassPaths(
            fromDistribution
                ? String.join(File.pathSeparator, home + "/lib/*", hadoop, home + "/lib/embedded/*")
                : own,
            hadoop);
      }
      Path links = Files.createDirectories(directory.resolve("lib"));
      for (String entry : own.split(File.pathSeparator)) {
        Path jar = Path.of(entry).toAbsolutePath();
        String name = jar.getFileName().toString();
        if (name.endsWith(".jar") && OURS.stream().noneMatch(name::startsWith)) {
          Files.createSymbolicLink(links.resolve(name), jar);
        }
      }
      return new ClassPaths(own, links + "/*");
    }
  }
}
