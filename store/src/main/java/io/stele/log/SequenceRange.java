package io.stele.log;

/**
 * Sequence numbers of one tablet.
 *
 * @param lowest the first
 * @param highest the last, not below it
 */
public record SequenceRange(long lowest, long highest) {
  public SequenceRange {
    if (lowest < 0 || highest < lowest) {
      throw new IllegalArgumentException(
          "not a range of sequence numbers: " + lowest + "-" + highest);
    }
  }

  SequenceRange with(long sequence) {
    return new SequenceRange(Math.min(lowest, sequence), Math.max(highest, sequence));
  }

  @Override
  public String toString() {
    return lowest + "-" + highest;
  }
}
