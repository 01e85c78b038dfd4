package io.stele.log;

import io.stele.model.CorruptionException;
import io.stele.model.TabletId;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Decides which damage of a log may have destroyed records of one tablet.
 *
 * <p>A record of the tablet that follows the damage clears it: a tablet's sequence numbers have no
 * gaps, so {@link DistinctRecords#checkComplete} finds what is missing below. The summary of the
 * damaged segment, or the link in the next segment, clears it too, if it has no records of the
 * tablet above the number, or once the highest of them was found.
 *
 * <p>Damage that an operator has accepted stops nothing: in its place, sequence numbers may be
 * missing.
 *
 * <p>Not safe for use by several threads.
 */
final class TabletDamage {
  /** Damage that is not cleared. */
  private static final class Unclear {
    final long segment;
    final CorruptionException damage;
    final boolean accepted;
    long from; // What was found last.
    Optional<SequenceRange> range = Optional.empty(); // Of the tablet's records there, if known.

    Unclear(long segment, CorruptionException damage, boolean accepted, long from) {
      this.segment = segment;
      this.damage = damage;
      this.accepted = accepted;
      this.from = from;
    }

    boolean isKnownToBeLost() {
      return accepted && range.isPresent() && damage.offset() == AcceptedLosses.WHOLE;
    }

    /** The records below {@code next}, the first after the damage, that it may have destroyed. */
    Optional<SequenceRange> lostBelow(long next) {
      long lowest = Math.max(from + 1, range.map(SequenceRange::lowest).orElse(0L));
      long highest = Math.min(next - 1, range.map(SequenceRange::highest).orElse(next - 1));
      return lowest <= highest ? Optional.of(new SequenceRange(lowest, highest)) : Optional.empty();
    }
  }

  private final TabletId tablet;
  private final List<Unclear> unclear = new ArrayList<>();
  private final List<SequenceRange> passedOver = new ArrayList<>();
  private final List<SequenceRange> inDoubt = new ArrayList<>();
  private long highest;
  private long knownUpTo = Long.MAX_VALUE;

  /** Decides about the records of {@code tablet} above {@code above}. */
  TabletDamage(TabletId tablet, long above) {
    this.tablet = tablet;
    this.highest = above;
  }

  /**
   * Adds damage.
   *
   * @param segment the number of the damaged segment
   * @param summary of that segment, if known
   * @param accepted whether the damage must be passed over
   */
  void add(
      long segment,
      CorruptionException damage,
      Optional<SegmentSummary> summary,
      boolean accepted) {
    Unclear one = new Unclear(segment, damage, accepted, highest);
    if (summary.isEmpty() || concerns(one, summary.get())) {
      unclear.add(one);
    }
  }

  /** Whether the damage may have taken records above those found. */
  private boolean concerns(Unclear one, SegmentSummary summary) {
    one.range = summary.range(tablet);
    return one.range.filter(range -> range.highest() > highest).isPresent();
  }

  /** Uses what a segment says about the previous one. */
  void learn(long segment, SegmentLink link) {
    unclear.removeIf(
        one ->
            one.segment < segment
                && one.range.isEmpty()
                && (one.segment > link.previous() // It has acknowledged nothing.
                    || (one.segment == link.previous() && !concerns(one, link.previousTablets()))));
  }

  /** Called when a record of the tablet was found. */
  void found(long sequence) {
    // Any of the damage may have destroyed the missing records. So all of it must be accepted,
    // unless they are known to be in one segment that is accepted as a whole.
    boolean all = unclear.stream().allMatch(one -> one.accepted);
    for (Unclear one : unclear) {
      if (all || one.isKnownToBeLost()) {
        one.lostBelow(sequence).ifPresent(passedOver::add);
      } else if (!one.accepted) {
        one.lostBelow(sequence).ifPresent(inDoubt::add);
      }
      one.from = Math.max(one.from, sequence);
    }
    highest = Math.max(highest, sequence);
    unclear.removeIf(one -> one.range.isEmpty() || one.range.get().highest() <= highest);
  }

  /**
   * Called at the end: checks that the remaining damage was accepted.
   *
   * @throws CorruptionException if some was not
   */
  void checkClear() throws CorruptionException {
    for (Unclear one : unclear) {
      if (!one.accepted) {
        throw new CorruptionException(
            one.damage.file(),
            one.damage.offset(),
            one.damage.detail()
                + "; tablet "
                + tablet
                + " may have records there above "
                + highest
                + ". It is not opened, so that no data is lost. `stele log check` shows what was"
                + " there, and how to continue without it");
      }
      if (one.range.isPresent()) {
        one.lostBelow(one.range.get().highest() + 1).ifPresent(passedOver::add);
      } else {
        knownUpTo = Math.min(knownUpTo, one.from);
      }
    }
  }

  /**
   * The records that may be missing.
   *
   * @param logGivenUp whether the whole log was given up
   */
  Losses losses(boolean logGivenUp) {
    return new Losses(passedOver, inDoubt, logGivenUp ? 0 : knownUpTo);
  }
}
