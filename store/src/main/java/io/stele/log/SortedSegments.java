package io.stele.log;

import java.io.IOException;
import java.util.Optional;

/** The segments of a log by tablet, which stay open for others. */
interface SortedSegments {
  /** A segment's records by tablet; empty if the segment itself must be read. */
  Optional<SortedSegment> of(Segment segment) throws IOException;

  /** It cannot be read: nobody else need try. */
  void lost(Segment segment);
}
