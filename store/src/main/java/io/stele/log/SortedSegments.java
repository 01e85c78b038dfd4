package io.stele.log;

import java.io.IOException;
import java.util.Optional;

/** The sorted files of a log's segments, which stay open for others. */
interface SortedSegments {
  /** The sorted file of a segment; empty if the segment itself must be read. */
  Optional<SortedSegment> of(Segment segment) throws IOException;

  /** It cannot be read: nobody else need try. */
  void lost(Segment segment);
}
