package io.stele.metadata;

import io.stele.model.Settled;
import io.stele.model.SteleException;
import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The records that one attempt of a task writes to a table, by digest. It knows which records the
 * attempt may declare settled, and whether they are the same as other attempts have written.
 *
 * <p>A tablet that answers for a record of which it only knows that it is settled says what is
 * settled, with the digest of these records. The attempt compares that with its own digest, at once
 * or when it has come so far. So an attempt whose records differ from those that count never
 * succeeds.
 *
 * <p>Not safe for use by several threads: it belongs to {@link Operations}.
 */
final class TaskRecords {
  /** Most entries of {@link #ahead}: some 300 KB. */
  static final int AHEAD_MAX = 4096;

  private long settledBelow;
  private long next;

  /** Digests of the records below {@link #settledBelow}, and below each later number to next. */
  private final ArrayDeque<Long> digests = new ArrayDeque<>();

  /**
   * Digests of settled records, as tablets reported them, that this attempt has yet to reach. The
   * digest at a number covers all records below it. If there are too many, every second one is
   * dropped, but never the last: a difference is then found later, and less exactly.
   */
  private final TreeMap<Long, Long> ahead = new TreeMap<>();

  private long agreedBelow;
  private Optional<SteleException> differs = Optional.empty();
  private boolean stopped;

  TaskRecords(long first) {
    this.settledBelow = first;
    this.agreedBelow = first;
    this.next = first;
    digests.add(0L);
  }

  /** Adds the attempt's next record. */
  void add(long record) {
    next++;
    if (!stopped) {
      digests.addLast(Settled.after(digests.getLast(), record));
      while (!ahead.isEmpty() && ahead.firstKey() <= next) {
        Map.Entry<Long, Long> said = ahead.pollFirstEntry();
        compare(new Settled(said.getKey(), said.getValue()), digests.getLast());
      }
    }
  }

  /** All records below a number have been applied. */
  void settle(long below) {
    while (!stopped && settledBelow < below) {
      digests.removeFirst();
      settledBelow++;
    }
  }

  /**
   * A record was not applied, or its outcome is unknown: from now on no further records are
   * settled.
   */
  void stop() {
    if (!stopped) {
      stopped = true;
      long digest = digests.getFirst();
      digests.clear();
      digests.add(digest);
      ahead.clear();
    }
  }

  /** The records that this attempt knows to be settled. */
  Settled settled() {
    return new Settled(settledBelow, digests.getFirst());
  }

  /** A tablet has answered for a record only because these records are settled. */
  void hear(Settled said) {
    if (stopped || said.below() < settledBelow) {
      return;
    }
    if (said.below() > next) {
      Long before = ahead.put(said.below(), said.digest());
      if (before != null && before != said.digest()) {
        compare(said, before);
      } else if (ahead.size() > AHEAD_MAX) {
        thin();
      }
      return;
    }
    Iterator<Long> own = digests.iterator();
    for (long below = settledBelow; below < said.below(); below++) {
      own.next();
    }
    compare(said, own.next());
  }

  private void thin() {
    long last = ahead.lastKey();
    boolean drop = false;
    for (Iterator<Long> number = ahead.keySet().iterator(); number.hasNext(); drop = !drop) {
      if (number.next() != last && drop) {
        number.remove();
      }
    }
  }

  /** How many digests of tablets wait until this attempt has come so far. */
  int waiting() {
    return ahead.size();
  }

  private void compare(Settled said, long own) {
    if (said.digest() == own) {
      agreedBelow = Math.max(agreedBelow, said.below());
    } else if (differs.isEmpty()) {
      differs = Optional.of(refused(said.below()));
      stop();
    }
  }

  private SteleException refused(long below) {
    String which =
        below == agreedBelow + 1
            ? "number " + agreedBelow
            : "one of the numbers " + agreedBelow + " to " + (below - 1);
    return SteleException.refused(
        "this attempt of a task writes other records than an earlier one: of its records for this"
            + " table "
            + which
            + " differs. A task must write the same records in the same order");
  }

  /** The failure of an attempt whose records differ from those of an earlier attempt. */
  Optional<SteleException> differs() {
    return differs;
  }

  /**
   * Why nothing more may be sent: another attempt would write the record that was not applied, but
   * only after later records of the same row.
   */
  Optional<SteleException> refusal() {
    if (differs.isPresent() || !stopped) {
      return differs;
    }
    return Optional.of(
        SteleException.retryLater(
            "a record that this attempt of a task wrote before was not applied, or may not have been:"
                + " nothing more is sent, so that records stay in order. Let the attempt fail"));
  }

  /** The failure if these were all records of the task, but an earlier attempt wrote more. */
  Optional<SteleException> missing() {
    if (stopped || ahead.isEmpty()) {
      return refusal();
    }
    return Optional.of(
        SteleException.refused(
            "this attempt of a task has written "
                + (next - 1)
                + " records to this table, and an earlier one at least "
                + (ahead.lastKey() - 1)
                + ". A task must write the same records in the same order. Or else its reducer has"
                + " thrown something before it had written them all: MapReduce shows only this, so"
                + " let the reducer log what it throws"));
  }
}
