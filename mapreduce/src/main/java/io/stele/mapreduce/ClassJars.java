package io.stele.mapreduce;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.CodeSource;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;

/**
 * Finds the jar a class was loaded from. A class from a directory, as in a development environment,
 * gets a jar made of that directory, kept until this process ends.
 */
final class ClassJars {
  private static final Map<Path, Path> MADE = new ConcurrentHashMap<>();

  private ClassJars() {}

  /** The jar with {@code type} in it. */
  static Path of(Class<?> type) throws IOException {
    CodeSource source = type.getProtectionDomain().getCodeSource();
    if (source == null) {
      throw new IOException("cannot tell which jar " + type + " was loaded from");
    }
    try {
      Path place = Path.of(source.getLocation().toURI());
      return Files.isDirectory(place) ? MADE.computeIfAbsent(place, ClassJars::pack) : place;
    } catch (URISyntaxException e) {
      throw new IOException("cannot find the jar of " + type, e);
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }

  private static Path pack(Path directory) {
    try {
      Path jar = Files.createTempFile("stele-classes-", ".jar");
      jar.toFile().deleteOnExit();
      try (OutputStream out = Files.newOutputStream(jar);
          JarOutputStream entries = new JarOutputStream(out);
          Stream<Path> files = Files.walk(directory)) {
        for (Path file : (Iterable<Path>) files.filter(Files::isRegularFile).sorted()::iterator) {
          String name = String.join("/", names(directory.relativize(file)));
          entries.putNextEntry(new JarEntry(name));
          Files.copy(file, entries);
          entries.closeEntry();
        }
      }
      return jar;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static List<String> names(Path path) {
    return Stream.iterate(0, i -> i < path.getNameCount(), i -> i + 1)
        .map(i -> path.getName(i).toString())
        .toList();
  }
}
