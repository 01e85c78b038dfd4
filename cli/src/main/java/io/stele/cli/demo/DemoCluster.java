package io.stele.cli.demo;

import io.stele.cli.Distribution;
import io.stele.cli.embedded.EmbeddedHadoop;
import io.stele.config.Key;
import io.stele.config.Keys;
import io.stele.runtime.Futures;
import io.stele.runtime.SystemRuntime;
import io.stele.yarn.StartOptions;
import io.stele.yarn.YarnSubmitter;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.apache.hadoop.conf.Configuration;

/**
 * Stele on an embedded Hadoop, with servers that are small enough for one machine. Closing it ends
 * all its processes.
 *
 * <p>For one thread.
 */
public final class DemoCluster implements AutoCloseable {
  static final int NODE_MANAGERS = 2;
  private static final int NODE_MANAGER_MB = 2304;
  private static final String SITE_FILE = "stele-site.xml";

  /** How programs on the cluster log: warnings, and how far their jobs are. */
  private static final String PROGRAM_LOG =
      """
      log4j.rootLogger=WARN,console
      log4j.logger.org.apache.hadoop.mapreduce.Job=INFO
      # These warn of what is as it should be here: no native code, and jobs without a jar of their own.
      log4j.logger.org.apache.hadoop.util.NativeCodeLoader=ERROR
      log4j.logger.org.apache.hadoop.mapreduce.JobResourceUploader=ERROR
      log4j.appender.console=org.apache.log4j.ConsoleAppender
      log4j.appender.console.target=System.err
      log4j.appender.console.layout=org.apache.log4j.PatternLayout
      log4j.appender.console.layout.ConversionPattern=%d{HH:mm:ss} %-5p %c{1}: %m%n
      # The ResourceManager of the demo has no page, and a job's counters hide its result.
      log4j.appender.console.filter.1=org.apache.log4j.varia.StringMatchFilter
      log4j.appender.console.filter.1.StringToMatch=The url to track the job
      log4j.appender.console.filter.1.AcceptOnMatch=false
      log4j.appender.console.filter.2=org.apache.log4j.varia.StringMatchFilter
      log4j.appender.console.filter.2.StringToMatch=Counters:
      log4j.appender.console.filter.2.AcceptOnMatch=false
      """;

  /** What a cluster on a small machine is set to. */
  private static final String[][] SETTINGS = {
    {"stele.cluster.name", "demo"},
    {"stele.root.dir", "/stele"},
    {"stele.yarn.am.memory", "384m"},
    {"stele.yarn.master.memory", "384m"},
    {"stele.yarn.tabletserver.count", "2"},
    {"stele.yarn.tabletserver.memory", "768m"},
    {"stele.tabletserver.memtable.bytes", "16m"},
    {"stele.tabletserver.memtable.total.bytes", "80m"},
    {"stele.tabletserver.cache.bytes", "64m"},
    {"stele.value.bytes.max", "6m"}, // The largest page has 5.2 MiB.
  };

  private final EmbeddedHadoop hadoop;
  private final Configuration site;

  private DemoCluster(EmbeddedHadoop hadoop, Configuration site) {
    this.hadoop = hadoop;
    this.site = site;
  }

  /** What is set for the cluster if nothing else is said. */
  static Configuration settings() {
    Configuration site = new Configuration(false);
    for (String[] setting : SETTINGS) {
      site.set(setting[0], setting[1]);
    }
    return site;
  }

  /**
   * The same with other settings.
   *
   * @throws io.stele.model.SteleException REFUSED for a wrong {@code stele.*} key or value
   */
  public static Configuration settings(Map<String, String> others) {
    Configuration site = settings();
    others.forEach((key, value) -> site.set(key, value, Key.COMMAND_LINE));
    Keys.check(site);
    return site;
  }

  /**
   * Starts Hadoop.
   *
   * @param directory where everything lies
   * @param site what is set for Stele, as {@link #settings} returns it
   * @param up is told the name of each daemon that has come up
   */
  public static DemoCluster startHadoop(
      Path directory, int dataNodes, Configuration site, Consumer<String> up) throws IOException {
    EmbeddedHadoop.Options options =
        EmbeddedHadoop.Options.in(directory)
            .withDataNodes(dataNodes)
            .withNodeManagers(NODE_MANAGERS, NODE_MANAGER_MB + moreMb(site));
    return new DemoCluster(EmbeddedHadoop.start(options, up), site);
  }

  /** What the servers of a cluster take that those of the demo as it is do not, in MB. */
  private static int moreMb(Configuration site) {
    return (int) Math.max(0, (serverBytes(site) - serverBytes(settings())) >> 20);
  }

  private static long serverBytes(Configuration site) {
    return Keys.YARN_MASTER_COUNT.in(site) * Keys.YARN_MASTER_MEMORY.in(site)
        + Keys.YARN_TABLETSERVER_COUNT.in(site) * Keys.YARN_TABLETSERVER_MEMORY.in(site);
  }

  /**
   * The cluster's configuration, also written to where {@code stele} finds it in another terminal.
   */
  public Configuration configuration() throws IOException {
    Configuration conf = hadoop.configuration();
    Configuration written = new Configuration(site);
    written.set(Keys.ZOOKEEPER_QUORUM.name(), Keys.ZOOKEEPER_QUORUM.in(conf)); // For programs.
    try (OutputStream file = Files.newOutputStream(hadoop.directory().resolve(SITE_FILE))) {
      written.writeXml(file);
    }
    writeLogSettings(hadoop.directory());
    site.forEach(entry -> conf.set(entry.getKey(), entry.getValue()));
    return conf;
  }

  /** Has programs that have {@code directory} on their class path show how far their jobs are. */
  static void writeLogSettings(Path directory) throws IOException {
    Files.writeString(directory.resolve("log4j.properties"), PROGRAM_LOG);
  }

  /** Starts Stele on it, and returns when all servers serve. */
  public static void startStele(YarnSubmitter yarn, Consumer<String> say) throws IOException {
    yarn.start(StartOptions.of(Distribution.serverJars()), say);
  }

  /**
   * Does not return if this process is ending. After Ctrl-C everything fails because it is being
   * ended: that is not worth reporting.
   */
  public static void waitIfEnding() throws IOException {
    if (SystemRuntime.isEnding()) {
      Futures.await(SystemRuntime.INSTANCE, new CompletableFuture<>(), "waiting for the end");
    }
  }

  /** The Hadoop that it runs on. */
  EmbeddedHadoop hadoop() {
    return hadoop;
  }

  @Override
  public void close() throws IOException {
    hadoop.close();
  }
}
