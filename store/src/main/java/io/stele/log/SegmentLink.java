package io.stele.log;

/**
 * The entry before a segment's first record that describes the previous segment: the last one
 * before it that has acknowledged records. A segment without one was a standby segment that was
 * never used.
 *
 * @param previous the number of the previous segment; 0 for the first
 * @param previousAcknowledgedBytes up to which byte that segment was acknowledged when this one
 *     took over: if it is shorter, the rest has been lost
 * @param previousTablets which records may have been written to that segment, so that it is known
 *     which tablets lose records with it
 */
public record SegmentLink(
    long previous, long previousAcknowledgedBytes, SegmentSummary previousTablets) {
  /** What the first segment of a log says. */
  static final SegmentLink NONE = new SegmentLink(0, 0, SegmentSummary.EMPTY);
}
