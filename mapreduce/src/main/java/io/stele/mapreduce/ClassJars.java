package io.stele.mapreduce;

import io.stele.model.SteleException;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.security.CodeSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;

/**
 * Finds the jar a class was loaded from. A class from a directory, as in a development environment,
 * gets a jar made of that directory, kept until this process ends. The jar has no file whose name,
 * or that of a directory around it, begins with a dot: {@code .git} holds no classes.
 */
final class ClassJars {
  /**
   * The jar goes to every node. A directory with more holds other things than one job's classes.
   */
  private static final long DIRECTORY_MB_MAX = 64;

  private static final Map<Path, Path> MADE = new ConcurrentHashMap<>();

  private ClassJars() {}

  /**
   * The jar with {@code type} in it.
   *
   * @throws SteleException REFUSED if it is in a directory that is too large for a job's classes
   */
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
      List<Path> files = files(directory);
      Path jar = Files.createTempFile("stele-classes-", ".jar");
      jar.toFile().deleteOnExit();
      try (OutputStream out = Files.newOutputStream(jar);
          JarOutputStream entries = new JarOutputStream(out)) {
        for (Path file : files) {
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

  /** The files for the jar, in order of their names. */
  private static List<Path> files(Path directory) throws IOException {
    List<Path> files = new ArrayList<>();
    Files.walkFileTree(
        directory,
        new SimpleFileVisitor<>() {
          private long bytes;

          @Override
          public FileVisitResult preVisitDirectory(Path at, BasicFileAttributes attributes) {
            return isHidden(at) && !at.equals(directory)
                ? FileVisitResult.SKIP_SUBTREE
                : FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
              throws IOException {
            if (Files.isRegularFile(file) && !isHidden(file)) {
              bytes += Files.size(file);
              if (bytes > DIRECTORY_MB_MAX * 1_000_000) {
                throw tooLarge(directory);
              }
              files.add(file);
            }
            return FileVisitResult.CONTINUE;
          }
        });
    files.sort(null);
    return files;
  }

  private static boolean isHidden(Path file) {
    return file.getFileName().toString().startsWith(".");
  }

  private static SteleException tooLarge(Path directory) {
    return SteleException.refused(
        "the class directory "
            + directory
            + " holds more than "
            + DIRECTORY_MB_MAX
            + " MB, and all of it would go into the job's jar: give the job's classes a directory"
            + " or a jar of their own");
  }

  private static List<String> names(Path path) {
    return Stream.iterate(0, i -> i < path.getNameCount(), i -> i + 1)
        .map(i -> path.getName(i).toString())
        .toList();
  }
}
