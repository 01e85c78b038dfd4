package io.stele.log;

import io.stele.files.DurableFiles;
import io.stele.model.CorruptionException;
import java.io.IOException;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * The damage in a fenced log that an operator has accepted. A replay passes over this and nothing
 * else.
 *
 * <p>Each decision is a file in the log's directory, written once and never changed: {@code
 * docs/formats/log.md}. Immutable.
 */
final class AcceptedLosses {
  /** The offset that stands for a whole segment. */
  static final long WHOLE = -1;

  /**
   * The offset that stands for a whole segment if it is not closed when its log's fence reads this;
   * the fence then records the loss as {@link #WHOLE}.
   */
  private static final long IF_OPEN = -2;

  /** The whole log, given up: its directory was gone, and nobody knows which segments it had. */
  static final Loss LOG = new Loss("*", WHOLE);

  private static final String PREFIX = "ACCEPTED.";
  private static final String FIRST_LINE = "stele accepted losses 1";
  private static final String DRAFT = ".draft";

  /**
   * A place of damage.
   *
   * @param segment the file's name
   * @param offset of the damage, or {@link #WHOLE} or {@link #IF_OPEN}
   */
  record Loss(String segment, long offset) implements Comparable<Loss> {
    static Loss of(CorruptionException damage) {
      return new Loss(new Path(damage.file()).getName(), damage.offset());
    }

    @Override
    public int compareTo(Loss other) {
      int bySegment = segment.compareTo(other.segment);
      return bySegment != 0 ? bySegment : Long.compare(offset, other.offset);
    }
  }

  private final Set<Loss> losses;

  private AcceptedLosses(Set<Loss> losses) {
    this.losses = losses;
  }

  /** The losses recorded in {@code directory}. */
  static AcceptedLosses read(FileSystem fs, Path directory) throws IOException {
    Set<Loss> losses = new TreeSet<>();
    for (FileStatus file : fs.listStatus(directory)) {
      String name = file.getPath().getName();
      if (name.startsWith(PREFIX) && !name.endsWith(DRAFT)) {
        losses.addAll(
            decode(
                file.getPath(),
                CheckedLines.read(fs, file.getPath(), FIRST_LINE, "a list of accepted losses")));
      }
    }
    return new AcceptedLosses(losses);
  }

  /**
   * Records the acceptance of {@code more}.
   *
   * @param name distinguishes this decision from others
   */
  static void write(FileSystem fs, Path directory, String name, Set<Loss> more) throws IOException {
    List<String> lines = more.stream().map(loss -> loss.segment + " " + loss.offset).toList();
    DurableFiles files = new DurableFiles(fs);
    Path file = file(directory, name);
    Path draft = file.suffix(DRAFT);
    fs.delete(draft, false); // Of somebody who died with it.
    CheckedLines.write(files, draft, FIRST_LINE, lines);
    if (!fs.rename(draft, file)) {
      throw new IOException("cannot rename " + draft + " to " + file);
    }
    files.syncNamesIn(directory);
  }

  /** The file in which a decision is recorded. */
  static Path file(Path directory, String name) {
    return new Path(directory, PREFIX + name);
  }

  private static Set<Loss> decode(Path file, List<String> lines) throws CorruptionException {
    Set<Loss> losses = new TreeSet<>();
    for (String line : lines) {
      int space = line.indexOf(' ');
      try {
        losses.add(
            new Loss(
                line.substring(0, Math.max(space, 0)), Long.parseLong(line.substring(space + 1))));
      } catch (NumberFormatException e) {
        CorruptionException damage =
            new CorruptionException(file.toString(), 0, "\"" + line + "\" names no place");
        damage.initCause(e);
        throw damage;
      }
    }
    return losses;
  }

  /** Whether the whole log was given up. */
  boolean hasLog() {
    return losses.contains(LOG);
  }

  /** Whether a segment must not be read at all. */
  boolean hasWhole(Segment segment) {
    return losses.contains(new Loss(segment.path().getName(), WHOLE));
  }

  /** Whether a segment must not be waited for. */
  boolean hasIfOpen(Segment segment) {
    return losses.contains(ifOpen(segment));
  }

  /** The loss of a segment if HDFS does not close it. */
  static Loss ifOpen(Segment segment) {
    return new Loss(segment.path().getName(), IF_OPEN);
  }

  /** Whether {@code damage} is accepted. */
  boolean has(CorruptionException damage) {
    return losses.contains(Loss.of(damage))
        || losses.contains(new Loss(Loss.of(damage).segment, WHOLE));
  }
}
