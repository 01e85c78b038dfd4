package io.stele.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.tools.ToolProvider;
import org.apache.hadoop.conf.Configuration;

/**
 * A Java example of README.md, compiled word for word against the distribution's jars, in a jar of
 * its own, and run as a process.
 */
final class ReadmeExample {
  private static final Pattern BLOCK = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL);
  private static final long MINUTES_MAX = 5;

  /** What an editor would add by itself. */
  private static final String IMPORTS =
      """
      import io.stele.client.*;
      import io.stele.inputformat.*;
      import io.stele.mapreduce.*;
      import io.stele.model.*;
      import java.io.IOException;
      import org.apache.hadoop.conf.Configuration;
      import org.apache.hadoop.fs.Path;
      import org.apache.hadoop.io.*;
      import org.apache.hadoop.mapreduce.*;
      import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
      import org.apache.hadoop.mapreduce.lib.reduce.LongSumReducer;
      """;

  private final String name;
  private final Path directory;
  private final String source;

  private ReadmeExample(String name, String source) {
    this.name = name;
    this.directory = Path.of("target", "readme", name).toAbsolutePath();
    this.source = source;
  }

  /**
   * The example with {@code words} in it, which is a class's members, as the class {@code name}.
   */
  static ReadmeExample ofMembers(String name, String words) throws IOException {
    return new ReadmeExample(
        name, IMPORTS + "public class " + name + " {\n" + block(words) + "\n}\n");
  }

  /** The example with {@code words} in it, which is statements, as the class {@code name}. */
  static ReadmeExample ofStatements(String name, String words) throws IOException {
    String main = "public static void main(String[] args) throws Exception {\n";
    return new ReadmeExample(
        name, IMPORTS + "public class " + name + " {\n" + main + block(words) + "\n}\n}\n");
  }

  private static String block(String words) throws IOException {
    String readme =
        Files.readString(Repository.root().resolve("README.md"), StandardCharsets.UTF_8);
    List<String> found =
        BLOCK
            .matcher(readme)
            .results()
            .map((MatchResult match) -> match.group(1))
            .filter(block -> block.contains(words))
            .toList();
    assertThat(found).as("Java blocks of README.md with %s", words).hasSize(1);
    return found.get(0);
  }

  /** Compiles the example, runs it on the cluster of {@code conf}, and gives what it printed. */
  String run(Configuration conf, String... arguments) throws IOException, InterruptedException {
    Files.createDirectories(directory);
    Path jar = compile();
    try (OutputStream site = Files.newOutputStream(directory.resolve("stele-site.xml"))) {
      conf.writeXml(site);
    }
    Path output = directory.resolve("output.txt");
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx256m",
                "-cp",
                directory + ":" + jar + ":" + libraries(),
                name));
    command.addAll(List.of(arguments));
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    try {
      assertThat(process.waitFor(MINUTES_MAX, TimeUnit.MINUTES)).as("%s ended", name).isTrue();
    } finally {
      process.destroyForcibly();
    }
    String printed = Files.readString(output, StandardCharsets.UTF_8);
    assertThat(process.exitValue()).as(printed).isZero();
    return printed;
  }

  /** As a user has them: ours, and Hadoop's. */
  private static String libraries() throws IOException {
    Path ours = Launcher.home().resolve("lib");
    try (Stream<Path> jars = Stream.concat(Files.list(ours), Files.list(ours.resolve("hadoop")))) {
      return String.join(
          ":", jars.map(Path::toString).filter(jar -> jar.endsWith(".jar")).sorted().toList());
    }
  }

  private Path compile() throws IOException {
    Path file = Files.writeString(directory.resolve(name + ".java"), source);
    Path classes = Files.createDirectories(directory.resolve("classes"));
    int code =
        ToolProvider.getSystemJavaCompiler()
            .run(
                null,
                null,
                null,
                "-proc:none",
                "-cp",
                libraries(),
                "-d",
                classes.toString(),
                file.toString());
    assertThat(code).as("javac of%n%s", source).isZero();
    Path jar = directory.resolve(name + ".jar");
    try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar));
        Stream<Path> compiled = Files.list(classes)) {
      for (Path one : compiled.toList()) {
        out.putNextEntry(new JarEntry(one.getFileName().toString()));
        Files.copy(one, out);
      }
    }
    return jar;
  }
}
