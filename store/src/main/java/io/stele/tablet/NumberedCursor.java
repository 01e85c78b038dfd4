package io.stele.tablet;

import io.stele.format.CellCursor;
import io.stele.format.ForwardingCursor;

/**
 * The cells of a file that a job has written: all have the sequence number that the tablet gave to
 * the file. Not safe for use by several threads.
 */
final class NumberedCursor extends ForwardingCursor {
  private final long sequence;

  NumberedCursor(CellCursor cells, long sequence) {
    super(cells);
    this.sequence = sequence;
  }

  @Override
  public long sequence() {
    return sequence;
  }
}
