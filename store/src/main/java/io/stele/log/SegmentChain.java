package io.stele.log;

/**
 * The last segment that was used, and what the next one says about it. Every used segment names the
 * last one before it that has acknowledged records: one that has none may be deleted, and is named
 * by no other.
 *
 * <p>Segments are used in the order of their numbers. Guarded by the lock of the {@link
 * CommitPipeline}.
 */
final class SegmentChain {
  private final SegmentLedger ledger;
  private long last; // 0: none.
  private long lastAcknowledgedBytes; // 0: it has acknowledged nothing.
  private SegmentLink link = SegmentLink.NONE; // What the last says about the previous one.

  SegmentChain(SegmentLedger ledger) {
    this.ledger = ledger;
  }

  /** Whether a segment was created too late to be used: after a higher one had been used. */
  boolean isTooLate(long number) {
    return number < last;
  }

  /**
   * Appends a segment, which is now the last.
   *
   * @return what it says about the previous one
   */
  SegmentLink append(long number) {
    // A segment that acknowledged nothing is left out of the chain: the new one names the segment
    // before it.
    if (lastAcknowledgedBytes > 0) {
      link = new SegmentLink(last, lastAcknowledgedBytes, ledger.takeSummary(last));
    }
    last = number;
    lastAcknowledgedBytes = 0;
    return link;
  }

  /** The last segment has acknowledged its records up to {@code position}. */
  void acknowledged(long position) {
    lastAcknowledgedBytes = position;
    ledger.grown(last, position);
  }
}
