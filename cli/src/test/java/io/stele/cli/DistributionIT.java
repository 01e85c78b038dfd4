package io.stele.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.stele.mapreduce.documents.MapReduceBlock;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.jar.JarOutputStream;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What is in the distribution, and that its command runs. */
@Timeout(120)
class DistributionIT {
  private static List<String> jars(String directory) throws IOException {
    try (Stream<Path> files = Files.list(Launcher.home().resolve(directory))) {
      return files
          .map(file -> file.getFileName().toString())
          .filter(name -> name.endsWith(".jar"))
          .sorted()
          .toList();
    }
  }

  private static String withoutVersion(String jar) {
    return jar.replaceFirst(
        "-v?\\d[^-]*(-\\d+|-jre|-GA|-SNAPSHOT|\\.Final|-empty-to-avoid-conflict-with-guava)?(?=(-[a-z]|\\.jar))",
        "");
  }

  @Test
  void noJarIsThereInTwoVersions() throws IOException {
    Map<String, List<String>> byName = new TreeMap<>();
    for (String directory : List.of("lib", "lib/hadoop", "lib/embedded")) {
      for (String jar : jars(directory)) {
        byName
            .computeIfAbsent(withoutVersion(jar), name -> new ArrayList<>())
            .add(directory + "/" + jar);
      }
    }
    assertThat(byName).hasSizeGreaterThan(100);
    assertThat(byName.values().stream().filter(jars -> jars.size() > 1)).isEmpty();
  }

  @Test
  void besideHadoopThereAreOnlyOurJarsAndFiveLibraries() throws IOException {
    assertThat(jars("lib").stream().map(DistributionIT::withoutVersion))
        .containsExactlyInAnyOrder(
            "aircompressor.jar",
            "avro-mapred.jar",
            "caffeine.jar",
            "picocli.jar",
            "stele-cli.jar",
            "stele-examples.jar",
            "stele-inputformat.jar",
            "stele-mapreduce.jar",
            "stele-outputformat.jar",
            "stele-store.jar",
            "stele-yarn-app.jar",
            "zstd-jni.jar");
  }

  @Test
  void theReadmeRefersToWhatIsThere() throws IOException {
    String text = Files.readString(Launcher.home().resolve("README.md"));
    List<String> links =
        Pattern.compile("\\]\\((?!https?:|#)([^)#]+)")
            .matcher(text)
            .results()
            .map(link -> link.group(1))
            .distinct()
            .toList();
    assertThat(links).contains("docs/tables.md");
    assertThat(links).allSatisfy(link -> assertThat(Launcher.home().resolve(link)).exists());
  }

  @Test
  void whatAJobBringsIsSmall() throws IOException {
    long bytes = 0;
    for (String jar : jars("lib")) {
      if (jar.matches("(stele-(store|inputformat|outputformat|mapreduce)|aircompressor)-.*")) {
        bytes += Files.size(Launcher.home().resolve("lib").resolve(jar));
      }
    }
    assertThat(bytes).isBetween(1L, 5_500_000L);
  }

  @Test
  void hadoopsOwnJarsHoldNoServersOfHdfsAndNoTests() throws IOException {
    assertThat(jars("lib/hadoop"))
        .noneMatch(
            jar ->
                jar.matches("hadoop-hdfs-\\d.*")
                    || jar.contains("-tests")
                    || jar.startsWith("junit"))
        .anyMatch(jar -> jar.startsWith("hadoop-common-"))
        .anyMatch(jar -> jar.startsWith("hadoop-mapreduce-client-app-"));
  }

  @Test
  void theCommandTeaches() throws Exception {
    Launcher.Ended help = Launcher.run("--help");
    assertThat(help.code()).isZero();
    assertThat(help.output()).contains("stele demo --keep", "Exit codes");
    assertThat(Launcher.run("table", "create", "--help").output())
        .contains("versions=3", "Examples:");
    assertThat(Launcher.run("--version").output()).contains("stele 0.", "Hadoop 3.5.0");
  }

  @Test
  void theCommandRunsByHadoopJar() throws Exception {
    Launcher.Ended version = Launcher.hadoopJar("stele-cli", "--version");
    assertThat(version.output()).contains("stele 0.", "Hadoop 3.5.0");
    assertThat(version.code()).isZero();
    Launcher.Ended wrong = Launcher.hadoopJar("stele-cli", "job", "cuont", "web");
    assertThat(wrong.code()).isEqualTo(ExitCode.USAGE.number());
  }

  @Test
  void aJobOfOnesOwnRunsByHadoopJarWithTheClassPathThatIsPrinted(@TempDir Path scratch)
      throws Exception {
    // This makes the command line of the page by hand: no hadoop command is needed.
    assertThat(MapReduceBlock.OWN_JOB.text().strip())
        .isEqualTo("HADOOP_CLASSPATH=\"$(stele classpath)\" hadoop jar my.jar my.Main ARGUMENTS");
    Files.writeString(
        scratch.resolve("stele-site.xml"),
        "<configuration><property><name>stele.cluster.name</name><value>mine</value></property>"
            + "</configuration>");
    Launcher.Ended printed = Launcher.run("classpath", "--conf", scratch.toString());
    assertThat(printed.output())
        .isEqualTo(scratch + ":" + Launcher.home().resolve("lib").toAbsolutePath() + "/*\n");
    Path jar = scratch.resolve("own.jar");
    String file = OwnJob.class.getName().replace('.', '/') + ".class";
    try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar));
        InputStream compiled = OwnJob.class.getClassLoader().getResourceAsStream(file)) {
      out.putNextEntry(new ZipEntry(file));
      compiled.transferTo(out);
    }
    Launcher.Ended ended =
        Launcher.java(
            Launcher.home().resolve("lib").resolve("hadoop") + "/*:" + printed.output().strip(),
            "org.apache.hadoop.util.RunJar",
            jar.toString(),
            OwnJob.class.getName());
    assertThat(ended.output()).contains("own job on mine");
    assertThat(ended.code()).isZero();
  }

  @Test
  void theExamplesRunByHadoopJar() throws Exception {
    assertThat(Launcher.hadoopJar("stele-examples").output())
        .contains("analytics", "earth", "search", "webtable-rank");
    for (String example : List.of("analytics", "earth", "search")) {
      Launcher.Ended help = Launcher.hadoopJar("stele-examples", example, "--help");
      assertThat(help.output()).as(example).contains(example + " run");
      assertThat(help.code()).as(example).isZero();
      Launcher.Ended wrong = Launcher.hadoopJar("stele-examples", example);
      assertThat(wrong.code()).as(example).isEqualTo(ExitCode.USAGE.number());
    }
  }

  @Test
  void theCommandRunsThroughSymbolicLinks() throws Exception {
    Path link =
        Files.createTempDirectory(Files.createDirectories(Path.of("target", "launcher")), "links")
            .resolve("st");
    Files.createSymbolicLink(
        link, Launcher.home().resolve("bin").resolve("stele").toAbsolutePath());
    Process process =
        new ProcessBuilder(link.toAbsolutePath().toString(), "--version")
            .redirectErrorStream(true)
            .start();
    assertThat(
            new String(
                process.getInputStream().readAllBytes(), java.nio.charset.StandardCharsets.UTF_8))
        .contains("stele 0.");
    assertThat(process.waitFor()).isZero();
  }

  @Test
  void wrongUseIsToldInALineOrTwo() throws Exception {
    Launcher.Ended unknown = Launcher.run("tabel", "list");
    assertThat(unknown.code()).isEqualTo(ExitCode.USAGE.number());
    assertThat(unknown.output()).contains("table").doesNotContain("Exception", "\tat ");
    Launcher.Ended key = Launcher.run("table", "list", "-D", "stele.zookeper.quorum=x");
    assertThat(key.code()).isEqualTo(ExitCode.REFUSED.number());
    assertThat(key.output()).contains("stele.zookeeper.quorum").doesNotContain("\tat ");
    Launcher.Ended value = Launcher.run("table", "list", "-D", "stele.client.timeout=soon");
    assertThat(value.code()).isEqualTo(ExitCode.REFUSED.number());
    assertThat(value.output()).contains("stele.client.timeout", "soon", "10ms");
    Launcher.Ended drop = Launcher.run("table", "drop", "t");
    assertThat(drop.code()).isEqualTo(ExitCode.USAGE.number());
    assertThat(drop.output()).contains("--yes");
  }

  @Test
  void outputThatDoesNotFitIsAFailure() throws Exception {
    Path full = Path.of("/dev/full");
    assumeTrue(Files.exists(full), "a device that is always full");
    Process process = Launcher.start(full, "conf");
    assertThat(process.waitFor()).isEqualTo(ExitCode.FAILED.number());
  }

  @Test
  void aFileThatIsNotThereIsNotFound() throws Exception {
    Launcher.Ended ended = Launcher.run("file", "verify", "file:///no/such/file.sst");
    assertThat(ended.code()).isEqualTo(ExitCode.NOT_FOUND.number());
    assertThat(ended.output()).contains("/no/such/file.sst").doesNotContain("\tat ");
  }
}
