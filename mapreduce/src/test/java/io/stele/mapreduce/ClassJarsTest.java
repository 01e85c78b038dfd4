package io.stele.mapreduce;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.stele.model.SteleException;
import java.io.IOException;
import java.io.InputStream;
import java.io.RandomAccessFile;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A program whose class is in a directory with more in it than classes. */
class ClassJarsTest {
  private static final String PROGRAM = "io/stele/mapreduce/ClassJarsTest$Program.class";

  @TempDir private Path directory;

  /** Loaded from the directory, not from where the tests are. */
  static final class Program {}

  @BeforeEach
  void putTheClass() throws IOException {
    try (InputStream from = ClassJarsTest.class.getResourceAsStream("/" + PROGRAM)) {
      Files.copy(from, inDirectory(PROGRAM));
    }
  }

  /** The path of a file, whose directory is made. */
  private Path inDirectory(String name) throws IOException {
    Path file = directory.resolve(name);
    Files.createDirectories(file.getParent());
    return file;
  }

  /** A file that says to have so many bytes and takes no space. */
  private void putHole(String name, long bytes) throws IOException {
    try (RandomAccessFile file = new RandomAccessFile(inDirectory(name).toFile(), "rw")) {
      file.setLength(bytes);
    }
  }

  private Path jar() throws Exception {
    URL[] place = {directory.toUri().toURL()};
    try (URLClassLoader loader = new URLClassLoader(place, null)) {
      return ClassJars.of(loader.loadClass(Program.class.getName()));
    }
  }

  private static List<String> entries(Path jar) throws IOException {
    try (JarFile file = new JarFile(jar.toFile())) {
      return file.stream().map(JarEntry::getName).toList();
    }
  }

  @Test
  void aJarOfADirectoryHasItsClassesAndResources() throws Exception {
    Files.writeString(inDirectory("words/stop.txt"), "the");
    assertThat(entries(jar())).containsExactly(PROGRAM, "words/stop.txt");
  }

  /** As where somebody compiles into a checkout beside which a cluster runs. */
  @Test
  void whatBeginsWithADotIsNeitherPackedNorCounted() throws Exception {
    putHole(".git/objects/pack", 100_000_000);
    putHole(".stele/hdfs/data/block", 100_000_000);
    Files.writeString(inDirectory(".project"), "");
    Files.writeString(inDirectory("words/.stop.txt.swp"), "");
    assertThat(entries(jar())).containsExactly(PROGRAM);
  }

  @Test
  void aDirectoryThatIsTooLargeForAJobsClassesIsRefused() throws Exception {
    putHole("target/one", 40_000_000);
    putHole("target/two", 40_000_000);
    assertThatThrownBy(this::jar)
        .isInstanceOfSatisfying(
            SteleException.class, e -> assertThat(e.code()).isEqualTo(SteleException.Code.REFUSED))
        .hasMessage(
            "the class directory %s holds more than 64 MB, and all of it would go into the job's"
                + " jar: give the job's classes a directory or a jar of their own",
            directory);
  }

  @Test
  void aDirectoryWhoseOwnNameBeginsWithADotIsPacked() throws Exception {
    directory = Files.createDirectory(directory.resolve(".classes"));
    putTheClass();
    assertThat(entries(jar())).containsExactly(PROGRAM);
  }
}
