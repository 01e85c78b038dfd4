package io.stele.log;

import java.util.ArrayList;
import java.util.List;

/**
 * Which records of a tablet may be missing from what was replayed.
 *
 * @param accepted sequence numbers that may be missing because an operator has accepted their loss
 * @param inDoubt sequence numbers that damage may have destroyed whose loss is not accepted; the
 *     records may have been found elsewhere
 * @param knownUpTo an operator has accepted the loss of a segment, or of a whole log, of which
 *     nobody knows the records: above this number and below the highest that was found, any may be
 *     missing, but for those in doubt; {@link Long#MAX_VALUE}: there is no such loss
 */
public record Losses(List<SequenceRange> accepted, List<SequenceRange> inDoubt, long knownUpTo) {
  /** Nothing may be missing. */
  public static final Losses NONE = new Losses(List.of(), List.of(), Long.MAX_VALUE);

  public Losses {
    accepted = List.copyOf(accepted);
    inDoubt = List.copyOf(inDoubt);
  }

  /** These, and those of another log. */
  public Losses and(Losses other) {
    return new Losses(
        joined(accepted, other.accepted),
        joined(inDoubt, other.inDoubt),
        Math.min(knownUpTo, other.knownUpTo));
  }

  private static List<SequenceRange> joined(List<SequenceRange> some, List<SequenceRange> more) {
    List<SequenceRange> all = new ArrayList<>(some);
    all.addAll(more);
    return all;
  }
}
