package io.stele.log;

import io.stele.model.CorruptionException;
import io.stele.model.TabletId;
import java.io.Closeable;
import java.io.IOException;
import java.util.Optional;

/**
 * A segment's records by tablet, to be read in place of the segment.
 *
 * <p>Safe for use by any number of threads.
 */
interface SortedSegment extends Closeable {
  /** What the segment says about the previous one. */
  Optional<SegmentLink> link();

  /** The position at which the segment's own records end. */
  long ended();

  /**
   * The tablet's records, in the order of the segment.
   *
   * @return a source whose {@code next} throws {@link CorruptionException} if this is damaged: then
   *     the segment itself must be read
   */
  RecordSource records(TabletId tablet);

  @Override
  void close() throws IOException;
}
