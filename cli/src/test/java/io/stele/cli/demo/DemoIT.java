package io.stele.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.stele.ChildJvm;
import io.stele.cli.Await;
import io.stele.cli.Launcher;
import io.stele.cli.embedded.EmbeddedHadoop;
import io.stele.cli.embedded.TaggedProcess;
import io.stele.config.Key;
import io.stele.config.Keys;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The demo, as it is run from the distribution. */
@Timeout(900)
class DemoIT {
  private static final int SIGINT = 2;
  private static final Duration PATIENCE = Duration.ofMinutes(10);

  private static Path directory(String name) {
    return Path.of("target", "embedded", name).toAbsolutePath();
  }

  /** The smallest of the javadoc jars. */
  private static String fewPages() throws IOException {
    try (Stream<Path> jars = Files.list(Launcher.home().resolve("share").resolve("pages"))) {
      return jars.filter(jar -> jar.toString().contains("hadoop-yarn-client-"))
          .findFirst()
          .orElseThrow()
          .toString();
    }
  }

  /** A small demo with servers that start soon. */
  private static String[] demo(String directory, String... others) throws IOException {
    List<String> words =
        new ArrayList<>(List.of("demo", "--dir", directory, "--pages", fewPages()));
    for (Key<String> options :
        List.of(
            Keys.YARN_AM_JVM_OPTIONS,
            Keys.YARN_MASTER_JVM_OPTIONS,
            Keys.YARN_TABLETSERVER_JVM_OPTIONS)) {
      words.add("-D");
      words.add(options.name() + "=" + String.join(" ", ChildJvm.SHORT_LIVED));
    }
    words.addAll(List.of(others));
    return words.toArray(String[]::new);
  }

  @Test
  void theServersTakeEveryPageOfTheDistribution() throws Exception {
    long most = Keys.VALUE_BYTES_MAX.in(DemoCluster.settings());
    int pages = 0;
    try (DirectoryStream<Path> jars =
        Files.newDirectoryStream(Launcher.home().resolve("share").resolve("pages"))) {
      for (Path jar : jars) {
        try (ZipFile zip = new ZipFile(jar.toFile())) {
          for (ZipEntry page : Collections.list(zip.entries())) {
            assertThat(page.getSize()).as("%s of %s", page, jar).isBetween(0L, most);
            pages++;
          }
        }
      }
    }
    assertThat(pages).isGreaterThan(1000);
  }

  @Test
  void isKeptUpUsedAndStopped() throws Exception {
    Path directory = directory("demo");
    String at = directory.toString();
    try {
      Launcher.Ended demo = Launcher.run(demo(at, "--keep"));
      assertThat(demo.output()).contains("Done in", "The most linked-to pages", "demo --stop");
      assertThat(demo.code()).isZero();

      // Another demo does not touch it.
      Launcher.Ended again = Launcher.run("demo", "--dir", at);
      assertThat(again.code()).isEqualTo(4);
      assertThat(again.output()).contains("--stop");

      String row = "org.apache.hadoop/docs/hadoop-yarn-client/index.html";
      Launcher.Ended page =
          Launcher.run("get", "webtable", row, "-c", "contents:", "--raw", "--conf", at);
      assertThat(page.output()).startsWith("<!DOCTYPE");
      assertThat(page.code()).isZero();
      assertThat(Launcher.run("table", "create", "t", "f:versions=3", "--conf", at).code())
          .isZero();
      assertThat(Launcher.run("put", "t", "row", "f:a", "1", "f:b", "\\x00", "--conf", at).code())
          .isZero();
      assertThat(Launcher.run("get", "t", "row", "--conf", at).output())
          .contains("row\tf:a\t", "\t1\n", "\t\\x00\n");
      Launcher.Ended nothing = Launcher.run("get", "t", "no", "--conf", at);
      assertThat(nothing.code()).isEqualTo(3);
      assertThat(Launcher.run("put", "t", "row", "g:a", "1", "--conf", at).code()).isEqualTo(3);
      assertThat(Launcher.run("table", "drop", "t", "--yes", "--conf", at).code()).isZero();
      Launcher.Ended files =
          Launcher.run("file", "verify", "/stele/logs", "/stele/tables", "--conf", at);
      assertThat(files.output()).contains(" sound, 0 damaged");
      assertThat(files.code()).isZero();
      assertThat(Launcher.run("yarn", "status", "--conf", at).output())
          .contains("tabletserver-2", "RUNNING");

      theChoiceOfTheDemoIsSaid(directory);
      theTasksHadOurJarsBesideHadoopsAndNothingElse(directory);
      jobsRunOnItsYarn(at);

      Launcher.Ended stopped = Launcher.run("demo", "--stop", "--dir", at);
      assertThat(stopped.code()).isZero();
      assertThat(EmbeddedHadoop.processes(directory)).isEmpty();
    } finally {
      EmbeddedHadoop.end(directory);
    }
  }

  private static void theChoiceOfTheDemoIsSaid(Path directory) throws Exception {
    String chosen = "cluster: the demo that runs in " + directory;
    String option = "-Dstele.work.dir=" + directory;
    Launcher.Ended unnamed = Launcher.runWith(option, "table", "list");
    assertThat(unnamed.output().lines()).startsWith(chosen).anyMatch(l -> l.contains("webtable"));
    assertThat(Launcher.run("table", "list", "--conf", directory.toString()).output())
        .doesNotContain("cluster:");
  }

  private static void jobsRunOnItsYarn(String at) throws Exception {
    Launcher.Ended count =
        Launcher.hadoopJar(
            "stele-cli", "job", "count", "webtable", "-c", "language:", "--conf", at);
    assertThat(count.output()).contains("job job_", "map 100 %", " rows, ", " cells, ");
    assertThat(count.code()).isZero();
    Launcher.Ended exported =
        Launcher.run("job", "export-avro", "webtable", "/web", "-c", "language:", "--conf", at);
    assertThat(exported.code()).as(exported.output()).isZero();
  }

  private static void theTasksHadOurJarsBesideHadoopsAndNothingElse(Path directory)
      throws IOException {
    Set<String> localized = new TreeSet<>();
    Set<String> elsewhere = new TreeSet<>();
    for (int node = 0; node < 2; node++) {
      Path logs = EmbeddedHadoop.logDirectory(directory).resolve("containers-" + node).toRealPath();
      try (Stream<Path> files = Files.walk(logs)) {
        for (Path script : files.filter(file -> file.endsWith("launch_container.sh")).toList()) {
          String text = Files.readString(script, StandardCharsets.UTF_8);
          if (text.contains("YarnChild")) {
            text.lines()
                .filter(line -> line.startsWith("ln -sf") && line.contains(".jar\""))
                .map(
                    line -> line.substring(line.lastIndexOf('/') + 1).replaceAll("-\\d.*|\".*", ""))
                .forEach(localized::add);
            text.lines()
                .filter(line -> line.startsWith("export CLASSPATH="))
                .flatMap(
                    line ->
                        Arrays.stream(
                            line.substring("export CLASSPATH=".length())
                                .replace("\"", "")
                                .split(":")))
                .filter(entry -> !entry.startsWith("$PWD") && !entry.startsWith("job.jar/"))
                .forEach(elsewhere::add);
          }
        }
      }
    }
    assertThat(elsewhere)
        .containsExactly(Launcher.home().toAbsolutePath().resolve("lib/hadoop") + "/*");
    assertThat(localized)
        .contains("stele-store")
        .isSubsetOf(
            "aircompressor",
            "stele-store",
            "stele-inputformat",
            "stele-outputformat",
            "stele-mapreduce",
            "stele-examples",
            "job.jar");
  }

  @Test
  void ctrlCWhileHadoopStartsLeavesNoProcess() throws Exception {
    endedBy("INT", "ctrl-c-early", TaggedProcess::isJava);
  }

  @Test
  void ctrlCWhileSteleStartsLeavesNoProcess() throws Exception {
    endedBy("INT", "ctrl-c", process -> process.isJava() && process.component().isPresent());
  }

  @Test
  void aKilledDemoLeavesNoProcess() throws Exception {
    endedBy("KILL", "killed-demo", process -> process.isJava() && process.component().isPresent());
  }

  /** Runs the demo until one of its processes is as {@code moment} says, and sends it a signal. */
  private static void endedBy(
      String signal, String name, java.util.function.Predicate<TaggedProcess> moment)
      throws Exception {
    Path directory = directory(name);
    Path output = directory.resolveSibling(name + ".out");
    Process demo = Launcher.start(output, demo(directory.toString()));
    try {
      Await.until(
          PATIENCE,
          "the moment",
          () -> EmbeddedHadoop.processes(directory).stream().anyMatch(moment) || !demo.isAlive());
      assertThat(demo.isAlive()).as(Files.readString(output)).isTrue();
      assumeThat(signal.equals("INT") && ignoresCtrlC(demo))
          .as("this build runs in the background of a shell, which has it ignore Ctrl-C")
          .isFalse();
      signal(signal, List.of(demo));
      assertThat(demo.waitFor(60, TimeUnit.SECONDS)).isTrue();
      assertThat(demo.exitValue()).isEqualTo(signal.equals("INT") ? 130 : 137);
      // Of a killed one the daemons learn by the end of a stream: that takes a moment.
      Await.until(
          PATIENCE,
          "the end of all processes",
          () -> EmbeddedHadoop.processes(directory).isEmpty());
      assertThat(EmbeddedHadoop.isRunning(directory)).isFalse();
      assertThat(Files.readString(output)).doesNotContain("\tat ");
    } finally {
      demo.destroyForcibly();
      EmbeddedHadoop.end(directory);
    }
  }

  private static boolean ignoresCtrlC(Process process) throws IOException {
    Path status = Path.of("/proc", Long.toString(process.pid()), "status");
    if (!Files.exists(status)) {
      return false; // Not Linux.
    }
    String ignored =
        Files.readAllLines(status).stream()
            .filter(line -> line.startsWith("SigIgn:"))
            .findFirst()
            .orElseThrow();
    return (Long.parseUnsignedLong(ignored.split("\\s+")[1], 16) >> SIGINT - 1 & 1) == 1;
  }

  private static void signal(String signal, List<Process> processes) throws Exception {
    for (Process process : processes) {
      assertThat(
              new ProcessBuilder("kill", "-" + signal, Long.toString(process.pid()))
                  .start()
                  .waitFor())
          .isZero();
    }
  }
}
