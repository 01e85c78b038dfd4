package io.stele.log;

import io.stele.model.CorruptionException;
import io.stele.model.ServerId;
import io.stele.model.TabletKind;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.hadoop.fs.Path;

/**
 * Checks, segment by segment, that none is missing between those of a log, and that none ends
 * before its acknowledged length: each segment names the last one before it that has acknowledged
 * records.
 *
 * <p>Not safe for use by several threads.
 */
final class SegmentLinks {
  private final long lowest;
  private final Map<Long, Long> endsByNumber =
      new HashMap<>(); // Where the records of a segment end.

  /** Checks {@code segments}, in order. */
  SegmentLinks(List<Segment> segments) {
    this.lowest = segments.isEmpty() ? 0 : segments.get(0).number();
  }

  /** Records that a segment was read up to its end at {@code position}. */
  void ended(long number, long position) {
    endsByNumber.put(number, position);
  }

  /**
   * Checks what a segment says about the previous one. A segment that was not used, or could not be
   * created properly, may stand between two that name each other: so the previous one may be any
   * seen before. Segments below the lowest were deleted.
   *
   * @throws CorruptionException if the previous one is missing or too short
   */
  void check(Segment segment, SegmentLink link) throws CorruptionException {
    if (link.previous() < lowest) {
      return;
    }
    Optional<Long> end = Optional.ofNullable(endsByNumber.get(link.previous()));
    Path before = LogDirectory.segment(segment.path().getParent(), segment.kind(), link.previous());
    if (end.isEmpty()) {
      throw new CorruptionException(
          before.toString(), 0, "the segment is missing, but " + segment.path() + " follows it");
    }
    if (end.get() < link.previousAcknowledgedBytes()) {
      throw new CorruptionException(
          before.toString(),
          end.get(),
          "the segment ends here, but "
              + link.previousAcknowledgedBytes()
              + " bytes of it were acknowledged");
    }
  }

  /**
   * Checks that a file holds the segment for which it and its directory are named.
   *
   * @throws CorruptionException if it does not
   */
  static void check(Segment segment, SegmentHeader header) throws CorruptionException {
    check(segment, segment.path(), header);
  }

  /** The same of the sorted file of a segment. */
  static void check(Segment segment, Path file, SegmentHeader header) throws CorruptionException {
    Optional<ServerId> server = segment.server();
    if (header.number() != segment.number()
        || header.kind() != segment.kind()
        || server.filter(owner -> !owner.equals(header.server())).isPresent()) {
      throw new CorruptionException(
          file.toString(),
          0,
          "the file is misplaced: it holds "
              + named(header.number(), header.kind(), Optional.of(header.server()))
              + ", and lies where that is "
              + named(segment.number(), segment.kind(), server));
    }
  }

  private static String named(long number, TabletKind kind, Optional<ServerId> server) {
    return "segment "
        + number
        + " of the "
        + kind
        + " log"
        + server.map(owner -> " of " + owner).orElse("");
  }
}
