package io.stele.cli;

import io.stele.model.SteleException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** The directory that Stele was installed in; {@code bin/stele} names it. */
public final class Distribution {
  /** The jars that servers need beside Hadoop's own. */
  private static final List<String> SERVER_JARS =
      List.of("stele-store-", "stele-yarn-app-", "aircompressor-", "caffeine-", "zstd-jni-");

  private Distribution() {}

  /** Its root. */
  public static Path home() {
    String home = System.getProperty("stele.home", "");
    if (home.isEmpty() || !Files.isDirectory(Path.of(home, "lib"))) {
      throw SteleException.refused("cannot find Stele's jars: run this command through bin/stele");
    }
    return Path.of(home);
  }

  /** What travels to the containers on YARN. */
  public static List<Path> serverJars() throws IOException {
    List<Path> jars =
        jarsIn(home().resolve("lib")).stream()
            .filter(jar -> SERVER_JARS.stream().anyMatch(jar.getFileName().toString()::startsWith))
            .toList();
    if (jars.size() != SERVER_JARS.size()) {
      throw SteleException.refused(
          home().resolve("lib")
              + " is incomplete: it should have one jar each of "
              + SERVER_JARS
              + " and has "
              + jars);
    }
    return jars;
  }

  /** The demo's web pages: javadoc jars. */
  public static List<Path> pages() throws IOException {
    Path directory = home().resolve("share").resolve("pages");
    List<Path> jars = Files.isDirectory(directory) ? jarsIn(directory) : List.of();
    if (jars.isEmpty()) {
      throw SteleException.refused(
          "there are no javadoc jars in "
              + directory
              + ": build Stele again, or name some with --pages");
    }
    return jars;
  }

  private static List<Path> jarsIn(Path directory) throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files.filter(file -> file.toString().endsWith(".jar")).sorted().toList();
    }
  }
}
