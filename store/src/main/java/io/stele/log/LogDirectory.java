package io.stele.log;

import io.stele.files.DurableFiles;
import io.stele.model.TabletKind;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/** The directory with the log segments of one tablet-server process. */
public final class LogDirectory {
  private static final Pattern SEGMENT_NAME = Pattern.compile("(user|system)-([0-9]{1,18})\\.log");

  private LogDirectory() {}

  /**
   * Creates the directory of a new server process. A server does this once, when it starts: after a
   * master has renamed the directory, nothing may create it again.
   *
   * @throws FileAlreadyExistsException if it exists: a server id is used once
   */
  public static void create(FileSystem fs, Path directory) throws IOException {
    if (fs.exists(directory)) {
      throw new FileAlreadyExistsException(
          directory + " already exists: another process has used this server id");
    }
    new DurableFiles(fs).mkdirs(directory);
  }

  /**
   * The segments in {@code directory}, of both kinds, in the order they were written within each;
   * empty if the directory is missing.
   */
  public static List<Segment> segments(FileSystem fs, Path directory) throws IOException {
    List<Segment> segments = new ArrayList<>();
    FileStatus[] files;
    try {
      files = fs.listStatus(directory);
    } catch (FileNotFoundException e) {
      return List.of();
    }
    for (FileStatus file : files) {
      if (file.isFile()) {
        segment(file.getPath(), file.getLen()).ifPresent(segments::add);
      }
    }
    segments.sort(Segment.IN_ORDER);
    return List.copyOf(segments);
  }

  /** The segment in a file; empty if the file name is not that of a segment. */
  static Optional<Segment> segment(Path file, long lengthBytes) {
    Matcher name = SEGMENT_NAME.matcher(file.getName());
    return name.matches()
        ? Optional.of(
            new Segment(
                TabletKind.named(name.group(1)), Long.parseLong(name.group(2)), file, lengthBytes))
        : Optional.empty();
  }

  /** The path of segment {@code number} of {@code kind} in {@code directory}. */
  static Path segment(Path directory, TabletKind kind, long number) {
    return new Path(directory, kind + "-" + number + ".log");
  }
}
