package io.stele.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.ChildJvm;
import io.stele.cli.embedded.EmbeddedHadoop;
import io.stele.cli.embedded.TaggedProcess;
import io.stele.client.Rows;
import io.stele.client.Stele;
import io.stele.client.Table;
import io.stele.client.TabletInfo;
import io.stele.config.Key;
import io.stele.config.Keys;
import io.stele.model.Bytes;
import io.stele.model.Row;
import io.stele.model.RowQuery;
import io.stele.model.ServerId;
import io.stele.model.TableSchema;
import io.stele.yarn.ApplicationStatus;
import io.stele.yarn.ComponentStatus;
import io.stele.yarn.StartOptions;
import io.stele.yarn.YarnSubmitter;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.MRJobConfig;

/**
 * Stele as a YARN application on an embedded Hadoop: a master and two tablet servers, each a
 * process that a test can kill. Stop it.
 */
final class RunningStele {
  private static final Duration PATIENCE = Duration.ofMinutes(3);
  private static final String SPLITS_AT = "row5";

  private final java.nio.file.Path siteDirectory;
  private final EmbeddedHadoop hadoop;
  private final Configuration conf;
  private YarnSubmitter yarn;
  private Stele stele;

  /** Starts it with its files in a directory {@code name}. */
  RunningStele(String name) throws Exception {
    siteDirectory = java.nio.file.Path.of("target", "site-of-" + name);
    hadoop =
        EmbeddedHadoop.start(
            EmbeddedHadoop.Options.in(java.nio.file.Path.of("target", "embedded", name)));
    conf = hadoop.configuration();
    try {
      startStele();
    } catch (Exception | Error e) {
      stop();
      throw e;
    }
  }

  private void startStele() throws Exception {
    java.nio.file.Path home = java.nio.file.Path.of(System.getProperty("stele.home"));
    conf.set(Keys.SESSION_TIMEOUT.name(), "6s");
    conf.set(Keys.LEASE.name(), "5s");
    conf.set(Keys.CLIENT_TIMEOUT.name(), "120s");
    conf.set(Keys.YARN_TABLETSERVER_MEMORY.name(), "640m");
    conf.set(Keys.METADATA_SPLIT_BYTES.name(), "16k"); // METADATA is split soon.
    for (Key<String> options :
        List.of(
            Keys.YARN_AM_JVM_OPTIONS,
            Keys.YARN_MASTER_JVM_OPTIONS,
            Keys.YARN_TABLETSERVER_JVM_OPTIONS)) {
      conf.set(options.name(), String.join(" ", ChildJvm.SHORT_LIVED));
    }
    for (String options : List.of(MRJobConfig.MR_AM_COMMAND_OPTS, "mapred.child.java.opts")) {
      conf.set(options, conf.get(options) + " " + String.join(" ", ChildJvm.SHORT_LIVED));
    }
    yarn = YarnSubmitter.connect(conf);
    yarn.start(StartOptions.ofLibDirectory(home.resolve("lib")), line -> {});
    stele = Stele.connect(conf);
  }

  /** Ends Stele and Hadoop. */
  void stop() throws Exception {
    try {
      if (stele != null) {
        stele.close();
      }
      if (yarn != null) {
        yarn.close();
      }
    } finally {
      hadoop.close();
    }
  }

  Configuration conf() {
    return conf;
  }

  Stele stele() {
    return stele;
  }

  EmbeddedHadoop hadoop() {
    return hadoop;
  }

  /** Creates a table of two tablets with the family {@code f}. */
  Table create(String name) throws IOException {
    stele.admin().createTable(TableSchema.of(name, "f"), List.of(Bytes.of(SPLITS_AT)));
    return stele.table(name);
  }

  /** Runs a command of the command line in this JVM against this cluster. */
  Ran run(String... command) throws IOException {
    java.nio.file.Files.createDirectories(siteDirectory);
    try (OutputStream site =
        java.nio.file.Files.newOutputStream(siteDirectory.resolve("core-site.xml"))) {
      conf.writeXml(site);
    }
    List<String> arguments = new ArrayList<>(List.of(command));
    if (!command[0].equals("tabel")) {
      arguments.addAll(List.of("--conf", siteDirectory.toString()));
    }
    return Ran.of(arguments);
  }

  /** The numbers of the processes that are its components. */
  Set<Long> components() {
    return hadoop.processes().stream()
        .filter(process -> process.isJava() && process.component().isPresent())
        .map(TaggedProcess::pid)
        .collect(Collectors.toCollection(TreeSet::new));
  }

  /** Kills the server that serves {@code row}. */
  void killServerOf(Table table, String row) throws Exception {
    ServerId server =
        table.tablets().stream()
            .filter(tablet -> tablet.rows().contains(Bytes.of(row)))
            .map(TabletInfo::server)
            .flatMap(Optional::stream)
            .findFirst()
            .orElseThrow();
    // A server's process is known by the port it listens on, which its name has.
    String component =
        hadoop.processes().stream()
            .filter(process -> process.isJava() && listensOn(process.pid(), server.port()))
            .flatMap(process -> process.component().stream())
            .findFirst()
            .orElseThrow();
    kill(component);
  }

  /** Kills the process of a component, such as {@code master-1}. */
  void kill(String component) {
    List<TaggedProcess> victims =
        hadoop.processes().stream()
            .filter(
                process -> process.isJava() && process.component().equals(Optional.of(component)))
            .toList();
    assertThat(victims).as("processes of %s", component).isNotEmpty();
    victims.forEach(TaggedProcess::kill);
  }

  private static boolean listensOn(long pid, int port) {
    try (Stream<java.nio.file.Path> descriptors =
        java.nio.file.Files.list(java.nio.file.Path.of("/proc/" + pid + "/fd"))) {
      String hexPort = ":%04X ".formatted(port);
      Set<String> inodes = new TreeSet<>();
      for (String file : List.of("/proc/net/tcp", "/proc/net/tcp6")) {
        for (String line : java.nio.file.Files.readAllLines(java.nio.file.Path.of(file))) {
          String[] fields = line.trim().split("\\s+");
          if (fields.length > 9 && (fields[1] + " ").endsWith(hexPort) && fields[3].equals("0A")) {
            inodes.add("socket:[" + fields[9] + "]");
          }
        }
      }
      return descriptors.anyMatch(descriptor -> inodes.contains(linkOf(descriptor)));
    } catch (IOException e) {
      return false; // It has ended.
    }
  }

  private static String linkOf(java.nio.file.Path descriptor) {
    try {
      return java.nio.file.Files.readSymbolicLink(descriptor).toString();
    } catch (IOException e) {
      return ""; // It was closed meanwhile.
    }
  }

  /** Waits until each component runs and serves. */
  void awaitAllComponents() throws Exception {
    await(
        "all components",
        () -> {
          Optional<ApplicationStatus> status = yarn.status();
          return status.isPresent()
              && status.get().complete()
              && status.get().components().stream().map(ComponentStatus::id).distinct().count() == 3
              && stele.admin().clusterStatus().servers().size() == 2
              && stele.admin().clusterStatus().unassigned() == 0;
        });
  }

  /** All rows of a table by their keys. */
  static Map<String, Row> read(Table table) throws IOException {
    Map<String, Row> all = new TreeMap<>();
    try (Rows rows = table.readRows(RowQuery.ALL)) {
      for (Row row : rows) {
        assertThat(all.put(row.key().toUtf8(), row)).as("row %s came twice", row.key()).isNull();
      }
    }
    return all;
  }

  /** The lines of a job's output, in their order. */
  static List<String> lines(FileSystem fs, String directory) throws IOException {
    List<String> lines = new ArrayList<>();
    for (FileStatus file : fs.globStatus(new Path(directory, "part-*"))) {
      try (FSDataInputStream in = fs.open(file.getPath())) {
        lines.addAll(new String(in.readAllBytes(), StandardCharsets.UTF_8).lines().toList());
      }
    }
    lines.sort(null);
    return lines;
  }

  /** Waits until {@code condition} holds; if it throws, it does not hold yet. */
  static void await(String what, Callable<Boolean> condition) throws Exception {
    Await.untilAnswered(PATIENCE, what, condition);
  }
}
