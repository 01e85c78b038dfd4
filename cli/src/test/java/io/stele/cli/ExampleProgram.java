package io.stele.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.stele.mapreduce.documents.DocumentExample;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;

/**
 * An example of a document as a program of its own: compiled against the distribution's jars, in a
 * jar, and run as a process.
 */
final class ExampleProgram {
  private final DocumentExample example;

  ExampleProgram(DocumentExample example) {
    this.example = example;
  }

  /** Compiles it, runs it on the cluster of {@code conf}, and gives what it printed. */
  String run(Configuration conf, String... arguments) throws IOException, InterruptedException {
    Path directory = example.directory();
    Path jar = jar();
    try (OutputStream site = Files.newOutputStream(directory.resolve("stele-site.xml"))) {
      conf.writeXml(site);
    }
    Launcher.Ended ended =
        Launcher.java(directory + ":" + jar + ":" + libraries(), example.name(), arguments);
    assertThat(ended.code()).as(ended.output()).isZero();
    return ended.output();
  }

  /** As a user has them: ours, and Hadoop's. */
  private static String libraries() throws IOException {
    Path ours = Launcher.home().resolve("lib");
    try (Stream<Path> jars = Stream.concat(Files.list(ours), Files.list(ours.resolve("hadoop")))) {
      return String.join(
          ":", jars.map(Path::toString).filter(jar -> jar.endsWith(".jar")).sorted().toList());
    }
  }

  private Path jar() throws IOException {
    Path classes = example.compile(libraries());
    Path jar = example.directory().resolve(example.name() + ".jar");
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
