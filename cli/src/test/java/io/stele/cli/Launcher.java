package io.stele.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.ChildJvm;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** Runs {@code bin/stele} of the distribution, as its users do. */
public final class Launcher {
  private static final long MINUTES_MAX = 10;

  private Launcher() {}

  /**
   * What a command said and how it ended.
   *
   * @param output both of its streams
   */
  public record Ended(int code, String output) {}

  /** The distribution, built by the package phase before. */
  public static Path home() {
    Path home = Path.of(System.getProperty("stele.home", "target/stele-not-built"));
    assertThat(home.resolve("lib")).as("the distribution; run through mvn verify").isDirectory();
    return home;
  }

  /** Starts a command; its output goes to {@code output}. */
  public static Process start(Path output, String... arguments) throws IOException {
    return startWith("", output, arguments);
  }

  private static Process startWith(String javaOptions, Path output, String... arguments)
      throws IOException {
    List<String> command =
        new ArrayList<>(List.of(home().resolve("bin").resolve("stele").toString()));
    command.addAll(List.of(arguments));
    Files.createDirectories(output.toAbsolutePath().getParent());
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile());
    builder
        .environment()
        .keySet()
        .removeIf(name -> name.startsWith("STELE_") || name.startsWith("HADOOP_"));
    builder
        .environment()
        .put("STELE_OPTS", String.join(" ", ChildJvm.SHORT_LIVED) + " " + javaOptions);
    builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
    builder
        .environment()
        .put(
            "HOME", Files.createDirectories(Path.of("target", "home")).toAbsolutePath().toString());
    Process process = builder.start();
    process.getOutputStream().close();
    return process;
  }

  /** Runs a command to its end. */
  public static Ended run(String... arguments) throws IOException, InterruptedException {
    return runWith("", arguments);
  }

  /** Runs a command to its end, with more options for Java. */
  public static Ended runWith(String javaOptions, String... arguments)
      throws IOException, InterruptedException {
    Path output = output();
    return end(startWith(javaOptions, output, arguments), output, "stele", arguments);
  }

  /**
   * Runs a command to its end as {@code hadoop jar} does.
   *
   * @param name of the jar, without its version
   */
  public static Ended hadoopJar(String name, String... arguments)
      throws IOException, InterruptedException {
    String jar;
    try (Stream<Path> jars = Files.list(home().resolve("lib"))) {
      jar =
          jars.map(Path::toString)
              .filter(path -> path.matches(".*/" + name + "-[^/]*\\.jar"))
              .findFirst()
              .orElseThrow();
    }
    List<String> all = new ArrayList<>(List.of(jar));
    all.addAll(List.of(arguments));
    return java(
        home().resolve("lib").resolve("hadoop") + "/*",
        "org.apache.hadoop.util.RunJar",
        all.toArray(String[]::new));
  }

  /**
   * Runs a Java program to its end.
   *
   * @param main the name of its class
   */
  static Ended java(String classPath, String main, String... arguments)
      throws IOException, InterruptedException {
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx256m",
                "-XX:+UseSerialGC"));
    command.addAll(ChildJvm.SHORT_LIVED);
    command.addAll(List.of("-cp", classPath, main));
    command.addAll(List.of(arguments));
    Path output = output();
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    return end(process, output, main, arguments);
  }

  private static Path output() throws IOException {
    return Files.createTempFile(
        Files.createDirectories(Path.of("target", "launcher")), "stele", ".out");
  }

  private static Ended end(Process process, Path output, String command, String... arguments)
      throws IOException, InterruptedException {
    try {
      assertThat(process.waitFor(MINUTES_MAX, TimeUnit.MINUTES))
          .as("%s %s ended", command, String.join(" ", arguments))
          .isTrue();
    } finally {
      process.destroyForcibly();
    }
    return new Ended(process.exitValue(), Files.readString(output, StandardCharsets.UTF_8));
  }
}
