package io.stele.log;

/**
 * The entry before a segment's first record that describes the segment written before it. A segment
 * without one was a standby segment that was never used.
 *
 * @param previous the number of the segment that was written before; 0 for the first
 * @param previousAcknowledgedBytes how far that one was acknowledged when this one took over: what
 *     it has less than that has been lost
 * @param previousTablets what may have been written to that one: so it is known whose records are
 *     lost with it
 */
public record SegmentLink(
    long previous, long previousAcknowledgedBytes, SegmentSummary previousTablets) {
  /** What the first segment of a log says. */
  static final SegmentLink NONE = new SegmentLink(0, 0, SegmentSummary.EMPTY);
}
