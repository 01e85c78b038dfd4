package io.stele.cli.embedded;

import io.stele.model.SteleException;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * The directory that an embedded Hadoop works in. Each start deletes what the last one left there.
 * So that it never deletes anybody else's files, the directory bears a mark, and one that has files
 * but no mark is refused. For one thread.
 */
final class WorkDirectory {
  private static final String MARK = ".embedded-hadoop";
  private static final String POSSIBLE = "[^\\s,:%'\"\\\\$`]+";

  /** What an embedded Hadoop writes there, and the next start deletes. */
  private static final List<String> PARTS =
      List.of("hdfs", "lib", "target", "zookeeper", "tmp", "logs", "hadoop-client.xml");

  private WorkDirectory() {}

  /**
   * The directory by its absolute path.
   *
   * @throws SteleException REFUSED if Hadoop cannot work in a directory of that name
   */
  static Path checked(Path directory) {
    Path absolute = directory.toAbsolutePath().normalize();
    if (!absolute.toString().matches(POSSIBLE)) {
      throw SteleException.refused(
          "Hadoop cannot work in \""
              + absolute
              + "\": name a directory without blanks, commas, colons, quotes, % or $, such as --dir"
              + " /tmp/stele");
    }
    return absolute;
  }

  /**
   * Marks the directory as an embedded Hadoop's; makes it if it is missing.
   *
   * @throws SteleException REFUSED if Hadoop cannot work there, or it has files and no mark;
   *     nothing is changed then
   */
  static void claim(Path directory) throws IOException {
    Path checked = checked(directory);
    Files.createDirectories(checked);
    Path mark = checked.resolve(MARK);
    if (Files.exists(mark)) {
      return;
    }
    try (DirectoryStream<Path> files = Files.newDirectoryStream(checked)) {
      for (Path other : files) {
        throw SteleException.refused(
            checked
                + " has files that no embedded Hadoop has made, such as "
                + other.getFileName()
                + ", and what it uses is deleted at each start: name a new or an empty directory");
      }
    }
    Files.writeString(
        mark, "An embedded Hadoop works in this directory, and deletes its files at each start.\n");
  }

  /** Deletes what an embedded Hadoop has left in a directory that is {@link #claim}ed. */
  static void empty(Path directory) throws IOException {
    for (String part : PARTS) {
      Path path = directory.resolve(part);
      if (Files.exists(path)) {
        try (Stream<Path> all = Files.walk(path)) {
          for (Path each : all.sorted(Comparator.reverseOrder()).toList()) {
            Files.delete(each);
          }
        }
      }
    }
  }
}
