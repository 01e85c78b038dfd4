package io.stele.log;

import java.util.ArrayList;
import java.util.List;

/**
 * Which records of a tablet may be missing from what was replayed.
 *
 * @param accepted sequence numbers that may be missing because an operator has accepted their loss
 * @param inDoubt sequence numbers that damage may have destroyed whose loss is not accepted; the
 *     records may have been found elsewhere
 * @param logGivenUp whether an operator has given up a whole log. Nobody knows which records it
 *     had: of those below the highest that was found, any may be missing, but for those in doubt
 */
public record Losses(
    List<SequenceRange> accepted, List<SequenceRange> inDoubt, boolean logGivenUp) {
  /** Nothing may be missing. */
  public static final Losses NONE = new Losses(List.of(), List.of(), false);

  public Losses {
    accepted = List.copyOf(accepted);
    inDoubt = List.copyOf(inDoubt);
  }

  /** These, and those of another log. */
  public Losses and(Losses other) {
    return new Losses(
        joined(accepted, other.accepted),
        joined(inDoubt, other.inDoubt),
        logGivenUp || other.logGivenUp);
  }

  private static List<SequenceRange> joined(List<SequenceRange> some, List<SequenceRange> more) {
    List<SequenceRange> all = new ArrayList<>(some);
    all.addAll(more);
    return all;
  }
}
