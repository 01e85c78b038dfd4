package io.stele.log;

import io.stele.files.DurableFiles;
import io.stele.files.NameSpace;
import io.stele.model.CorruptionException;
import io.stele.model.TabletKind;
import io.stele.runtime.HedgedCall;
import io.stele.runtime.ProcessRuntime;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * The complete log of a fenced server: its directory has a file that lists every segment with its
 * length, written when all were closed, or copied to files that are.
 *
 * <p>A replay reads exactly the listed files. A listing of the directory is not enough: if it is
 * out of date, or a file was lost, it is only shorter, and nobody would notice that writes are
 * missing. The file's format is in {@code docs/formats/log.md}.
 */
public final class FencedLog {
  private static final String NAME = "SEGMENTS";
  private static final String FIRST_LINE = "stele segments 1";

  /** A DataNode that hangs delays a file by a minute; another file may be on other nodes. */
  private static final Duration ATTEMPT_PATIENCE = Duration.ofSeconds(2);

  private static final int ROUNDS_MAX = 3;

  private FencedLog() {}

  /** Whether the log in {@code directory} is completely fenced. */
  public static boolean isListed(FileSystem fs, Path directory) throws IOException {
    return fs.exists(new Path(directory, NAME));
  }

  /** Writes the list of the segments in {@code directory}, all of which are closed. */
  static void list(ProcessRuntime runtime, FileSystem fs, Path directory) throws IOException {
    list(runtime, fs, () -> new DurableFiles(fs), directory, Map.of());
  }

  /**
   * Writes the list of the segments in {@code directory}. Several processes may do this at once:
   * the list that is there first counts.
   *
   * @param files make the list; asked for each attempt
   * @param instead what is listed for some names: for a segment that is not closed its copy, in a
   *     directory below; for one that is gone what was known of it, which replays find missing
   */
  static void list(
      ProcessRuntime runtime,
      FileSystem fs,
      Supplier<DurableFiles> files,
      Path directory,
      Map<String, Segment> instead)
      throws IOException {
    Map<String, Segment> segments = new HashMap<>();
    LogDirectory.segments(fs, directory)
        .forEach(segment -> segments.put(segment.path().getName(), segment));
    segments.putAll(instead);
    List<String> lines =
        segments.values().stream()
            .sorted(Segment.IN_ORDER)
            .map(segment -> name(directory, segment) + " " + segment.lengthBytes())
            .toList();
    HedgedCall.first(
        runtime,
        "segment-list",
        ATTEMPT_PATIENCE,
        ROUNDS_MAX,
        () -> list(runtime, fs, files.get(), directory, lines),
        file -> {});
  }

  /** Returns the list's file, which this or another process has written. */
  private static Path list(
      ProcessRuntime runtime, FileSystem fs, DurableFiles files, Path directory, List<String> lines)
      throws IOException {
    Path draft = new Path(directory, NAME + "." + Long.toHexString(runtime.random().nextLong()));
    CheckedLines.write(files, draft, FIRST_LINE, lines);
    Path file = new Path(directory, NAME);
    if (!files.renameToNew(draft, file)) {
      files.deleteUnlessRenamed(draft);
      if (!fs.exists(file)) {
        throw new IOException("cannot rename " + draft + " to " + file);
      }
    }
    files.syncNamesIn(directory);
    return file;
  }

  /** The name of a segment's file, or of its copy, below the log's {@code directory}. */
  public static String name(Path directory, Segment segment) {
    Path file = segment.path();
    return file.getParent().getName().equals(directory.getName())
        ? file.getName()
        : file.getParent().getName() + Path.SEPARATOR + file.getName();
  }

  /**
   * The segments of {@code kind} in a fenced log as they were when the log was fenced, in the order
   * they were written.
   */
  static List<Segment> segments(FileSystem fs, Path directory, TabletKind kind) throws IOException {
    NameSpace.catchUp(fs, directory);
    Path file = new Path(directory, NAME);
    List<String> lines;
    try {
      lines = CheckedLines.read(fs, file, FIRST_LINE, "a list of segments");
    } catch (FileNotFoundException e) {
      throw gone(file, "it lists the segments of a fenced log, which cannot be read without it", e);
    }
    List<Segment> segments = new ArrayList<>();
    for (String line : lines) {
      int space = line.indexOf(' ');
      String name = line.substring(0, Math.max(space, 0));
      long length = space < 0 ? -1 : number(file, line.substring(space + 1));
      Segment segment =
          LogDirectory.segment(new Path(directory, name), length)
              .orElseThrow(
                  () ->
                      new CorruptionException(
                          file.toString(), 0, "\"" + line + "\" does not name a segment"));
      if (segment.kind() == kind) {
        segments.add(segment);
      }
    }
    return List.copyOf(segments);
  }

  /** How a segment was changed since its server was fenced; empty if it was not, as it must be. */
  static Optional<CorruptionException> changed(FileSystem fs, Segment segment) throws IOException {
    FileStatus status;
    try {
      status = fs.getFileStatus(segment.path());
    } catch (FileNotFoundException e) {
      return Optional.of(
          because(
              new CorruptionException(
                  segment.path().toString(),
                  AcceptedLosses.WHOLE,
                  "the file is missing: it was there when its server was fenced"),
              e));
    }
    if (status.getLen() == segment.lengthBytes()) {
      return Optional.empty();
    }
    return Optional.of(
        new CorruptionException(
            segment.path().toString(),
            status.getLen(),
            "the segment ends here, but had "
                + segment.lengthBytes()
                + " bytes when its server was fenced"));
  }

  /** Stands for any damage of a segment that must not be read. */
  static CorruptionException accepted(Segment segment) {
    return new CorruptionException(
        segment.path().toString(), AcceptedLosses.WHOLE, "an operator has accepted its loss");
  }

  private static long number(Path file, String digits) throws CorruptionException {
    try {
      return Long.parseLong(digits);
    } catch (NumberFormatException e) {
      throw because(
          new CorruptionException(
              file.toString(), 0, "\"" + digits + "\" is not the length of a segment"),
          e);
    }
  }

  private static CorruptionException gone(Path file, String why, FileNotFoundException e) {
    return because(new CorruptionException(file.toString(), 0, "the file is missing: " + why), e);
  }

  private static CorruptionException because(CorruptionException damage, Exception e) {
    damage.initCause(e);
    return damage;
  }
}
