package io.stele.cli;

import io.stele.cli.embedded.EmbeddedHadoop;
import io.stele.client.Stele;
import io.stele.config.Key;
import io.stele.config.Keys;
import io.stele.model.SteleException;
import io.stele.runtime.Deadline;
import io.stele.runtime.Futures;
import io.stele.runtime.SystemRuntime;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.HdfsConfiguration;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The options by which every command finds its cluster. */
public final class ClusterOptions {
  /** For a cluster of which no process is there, but which may be starting. */
  private static final Duration START_MAX = Duration.ofSeconds(3);

  private static final Duration LOOK_EVERY = Duration.ofMillis(200);

  private static final List<String> SITE_FILES =
      List.of(
          "core-site.xml",
          "hdfs-site.xml",
          "yarn-site.xml",
          "mapred-site.xml",
          "hadoop-client.xml",
          "stele-site.xml");

  @Option(
      names = "--conf",
      paramLabel = "DIR",
      description =
          "Read stele-site.xml and Hadoop's *-site.xml from this directory. Default: STELE_CONF_DIR and HADOOP_CONF_DIR, or, if"
              + " STELE_CONF_DIR is not set, the demo that runs, if any.")
  private Optional<Path> directory = Optional.empty();

  @Option(
      names = "-D",
      paramLabel = "KEY=VALUE",
      description = "Set a configuration key; overrides all files.")
  private Map<String, String> settings = Map.of();

  @Option(
      names = {"-v", "--verbose"},
      description = "Write the log to standard error.")
  @SuppressWarnings("unused") // Main reads it before logging begins, from the arguments.
  private boolean verbose;

  @Option(names = "--stacktrace", description = "Show the stack trace of a failure.")
  private boolean stacktrace;

  @Spec(Spec.Target.MIXEE)
  private CommandSpec command;

  boolean stacktrace() {
    return stacktrace;
  }

  /**
   * The configuration: Hadoop's and Stele's.
   *
   * @throws SteleException REFUSED for a wrong {@code stele.*} key or value, or a directory without
   *     files
   */
  Configuration configuration() throws IOException {
    HdfsConfiguration.init();
    Configuration conf = new YarnConfiguration();
    Optional<Path> demo = runningDemo();
    if (directory.isPresent()) {
      addFiles(conf, directory.get());
    } else if (demo.isPresent()) {
      command.commandLine().getErr().println("cluster: the demo that runs in " + demo.get());
      add(conf, EmbeddedHadoop.configurationFile(demo.get()));
      add(conf, demo.get().resolve("stele-site.xml"));
    } else {
      conf.addResource("stele-site.xml");
    }
    settings.forEach((key, value) -> conf.set(key, value, Key.COMMAND_LINE));
    Keys.check(conf);
    return conf;
  }

  /**
   * Connects to the cluster.
   *
   * @throws SteleException REFUSED as {@link #configuration} does, RETRY_LATER if none of its
   *     processes runs
   */
  Stele connect() throws IOException {
    return connect(configuration());
  }

  /**
   * Connects to the cluster of {@code conf}, one that {@link #configuration} returned. A call that
   * waits for the master says so on standard error.
   */
  Stele connect(Configuration conf) throws IOException {
    return connect(conf, line -> command.commandLine().getErr().println(line));
  }

  /** The same, with {@code teller} told what calls wait for. */
  static Stele connect(Configuration conf, Consumer<String> teller) throws IOException {
    Stele stele = Stele.connectTelling(conf, teller);
    try {
      requireRunning(stele, conf);
      return stele;
    } catch (IOException | RuntimeException e) {
      stele.close();
      throw e;
    }
  }

  /** Without it, a call would wait all its time for a cluster that was stopped. */
  private static void requireRunning(Stele stele, Configuration conf) throws IOException {
    Deadline deadline = Deadline.after(SystemRuntime.INSTANCE, START_MAX);
    while (!stele.admin().isRunning()) {
      if (deadline.isOver()) {
        throw SteleException.retryLater(
            "cluster "
                + Keys.CLUSTER_NAME.in(conf)
                + " is not running, or still starting: see `stele yarn status`, or start it with"
                + " `stele yarn start`");
      }
      try {
        SystemRuntime.INSTANCE.sleep(LOOK_EVERY);
      } catch (InterruptedException e) {
        throw Futures.interrupted(e, "waiting for the cluster to start");
      }
    }
  }

  private void addFiles(Configuration conf, Path from) {
    if (!Files.isDirectory(from)) {
      throw SteleException.refused(
          "--conf " + from + ": there is no such directory; name one with stele-site.xml in it");
    }
    boolean found = false;
    for (String name : SITE_FILES) {
      Path file = from.resolve(name);
      if (Files.exists(file)) {
        add(conf, file);
        found = true;
      }
    }
    if (!found) {
      throw SteleException.refused(
          "--conf " + from + ": no " + String.join(", ", SITE_FILES) + " in this directory");
    }
  }

  /** The configuration keys that are set by options. */
  Map<String, String> settings() {
    return Map.copyOf(settings);
  }

  /**
   * The directory with the cluster's {@code stele-site.xml}.
   *
   * @throws SteleException REFUSED if none was named, and the command does not run through {@code
   *     bin/stele}
   */
  Path configurationDirectory() throws IOException {
    configuration(); // Refuses a directory without configuration.
    Optional<Path> named = directory.isPresent() ? directory : runningDemo();
    String usual = System.getProperty("stele.conf.dir", "");
    if (named.isEmpty() && usual.isEmpty()) {
      throw SteleException.refused("name the directory of stele-site.xml with --conf");
    }
    return named.orElse(Path.of(usual)).toAbsolutePath().normalize();
  }

  /** The work directory of a demo that runs, unless another cluster was named. */
  Optional<Path> runningDemo() throws IOException {
    String work = System.getProperty("stele.work.dir", "");
    boolean named = directory.isPresent() || Boolean.getBoolean("stele.conf.explicit");
    if (named
        || work.isEmpty()
        || !EmbeddedHadoop.isRunning(Path.of(work))
        || !Files.exists(EmbeddedHadoop.configurationFile(Path.of(work)))) {
      return Optional.empty();
    }
    return Optional.of(Path.of(work));
  }

  private static void add(Configuration conf, Path file) {
    conf.addResource(new org.apache.hadoop.fs.Path(file.toAbsolutePath().toUri()));
  }
}
