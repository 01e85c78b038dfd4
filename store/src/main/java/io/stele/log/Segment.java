package io.stele.log;

import io.stele.model.ServerId;
import io.stele.model.TabletKind;
import java.util.Comparator;
import java.util.Optional;
import org.apache.hadoop.fs.Path;

/**
 * One file of a commit log.
 *
 * @param kind whose records it holds
 * @param number its place among the segments of its kind, from 1 on
 * @param path where it is
 * @param lengthBytes its length when it was listed; of a file still open a lower bound
 */
public record Segment(TabletKind kind, long number, Path path, long lengthBytes) {
  /** By kind, and as they were written. */
  static final Comparator<Segment> IN_ORDER =
      Comparator.comparing(Segment::kind).thenComparingLong(Segment::number);

  /**
   * The server in whose log's directory it lies, itself or as a copy; empty if the directory does
   * not have the name of a server.
   */
  Optional<ServerId> server() {
    Path directory = path.getParent();
    Path log =
        directory.getName().startsWith(SegmentCopier.DIRECTORY) ? directory.getParent() : directory;
    try {
      return Optional.of(ServerId.parse(log.getName()));
    } catch (IllegalArgumentException e) {
      return Optional.empty(); // Whoever made it knows why.
    }
  }

  /** The same with another length. */
  Segment withLength(long bytes) {
    return new Segment(kind, number, path, bytes);
  }
}
