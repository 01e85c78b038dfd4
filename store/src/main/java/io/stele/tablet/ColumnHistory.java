package io.stele.tablet;

import io.stele.record.FormerCount;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Which versions of one column overwrote, deleted or pushed out others. It is computed as they are
 * read in the order of cells: tombstones of time ranges, then versions and their tombstones from
 * the greatest timestamp down.
 *
 * <p>A version lives from the operation that wrote it to the one that overwrote, deleted or pushed
 * it out. It is pushed out by the first operation after which as many live versions with greater
 * timestamps existed as the policy counts: so a version that is deleted today may have pushed out
 * another before, and that one does not come back. A version that was pushed out pushes out nothing
 * that the versions above it would not push out anyway. So one number is enough: the last moment at
 * which enough versions with greater timestamps lived ({@link #pushedOutThrough}). A version was
 * pushed out if, and only if, it was written no later. Decision 6 has the proof.
 *
 * <p>If an alteration made the count lower, each moment has the count of its time: see {@link
 * FormerCount}.
 *
 * <p><b>Unseen past.</b> If cells with lower sequence numbers exist that are not read (in a
 * compaction of some of the files), an unseen version may have pushed out one of these before it
 * was deleted by a tombstone seen here. So there a version counts only up to the first tombstone
 * that reaches above its timestamp. A version that is reported as pushed out was then pushed out
 * whatever the unseen past.
 *
 * <p>A moment is a sequence number: an operation is one moment, whatever its edits and their order.
 * Not safe for use by several threads; one instance serves column after column.
 */
final class ColumnHistory {
  /** What became of a version; the later ones go before the earlier ones. */
  enum Fate {
    /** It is there. */
    LIVE,
    /** Newer versions pushed it out of the count; nothing else happened to it. */
    PUSHED_OUT,
    /** It was pushed out, and overwritten or deleted too. */
    PUSHED_OUT_AND_GONE,
    /** The same timestamp was written again, by an operation that left it so. */
    OVERWRITTEN,
    /** A tombstone of its timestamp or of a time range came, perhaps after it was overwritten. */
    DELETED
  }

  private static final long NEVER = -1;

  private final boolean unseenPast;

  private int count;
  private List<FormerCount> former = List.of();
  private boolean tombstones;
  private long pushedOutThrough;

  private final RangeTombstones ranges = new RangeTombstones();
  private long deletedBelow; // All timestamps below it are in one of them.

  // Sequence numbers of tombstones of single versions: first of those with greater timestamps, then
  // of the current timestamp. Needed only with an unseen past. The first are in ascending runs, one
  // for each bit of their number, the longest first: so that adding one moves few of the others.
  private int singlesAbove;
  private int singles;
  private long[] singleSequence = new long[4];

  // What last happened at the timestamp being looked at.
  private long timestamp;
  private long endedAt;
  private boolean endedByOverwriting; // ... by a version that was there when its operation ended.

  // Until a tombstone comes: the lives counted so far. From then on they are in `lives`.
  private int plain;
  private long[] plainFrom = new long[4];
  private long[] plainTo = new long[4];
  private int plainLive;
  private final LifeCount lives = new LifeCount();
  private final List<LifeCount> formerLives = new ArrayList<>(); // Likewise, by former count.

  ColumnHistory(boolean unseenPast) {
    this.unseenPast = unseenPast;
  }

  /**
   * Begins a column.
   *
   * @param versions how many versions its policy counts; 0: it counts none
   * @param before how many it counted until earlier moments: see {@link GcRule#former}
   */
  void begin(int versions, List<FormerCount> before) {
    count = versions;
    former = before;
    tombstones = false;
    pushedOutThrough = NEVER;
    ranges.clear();
    deletedBelow = 0;
    singlesAbove = 0;
    singles = 0;
    timestamp = Long.MAX_VALUE;
    endedAt = Long.MAX_VALUE;
    plain = 0;
    plainLive = 0;
  }

  /**
   * The versions with a timestamp in [{@code from}, {@code to}) were deleted.
   *
   * @return false if that is without effect, because a newer tombstone deletes all versions below a
   *     timestamp at or above {@code to}. (One that begins above {@code from} would not do: a
   *     version between the two would be pushed out by one that this tombstone had deleted before.)
   */
  boolean deleteRange(long from, long to, long sequence, int ordinal) {
    if (from == to || to <= deletedBelow) {
      return false;
    }
    if (from == 0) {
      deletedBelow = to;
    }
    beginTombstones();
    ranges.add(from, to, sequence, ordinal);
    return true;
  }

  /** The version at {@code at} was deleted. */
  void deleteVersion(long at, long sequence) {
    beginTombstones();
    if (unseenPast) {
      addSinglesAbove(at);
      if (singles == singleSequence.length) {
        singleSequence = Arrays.copyOf(singleSequence, singles * 2);
      }
      singleSequence[singles++] = sequence;
    }
    timestamp = at;
    endedAt = sequence;
    endedByOverwriting = false;
  }

  /**
   * Adds a version; {@code surplus} if a compaction found before that it was pushed out, and wrote
   * it as {@link io.stele.format.CellType#SURPLUS}.
   */
  Fate version(long at, long sequence, int ordinal, boolean surplus) {
    long end = timestamp == at ? endedAt : Long.MAX_VALUE;
    boolean overwritten = end != Long.MAX_VALUE && endedByOverwriting;
    long deleted = ranges.firstOver(at, sequence, ordinal);
    if (deleted < end || (deleted == end && overwritten)) {
      end = deleted;
      overwritten = false;
    }
    if (unseenPast) {
      addSinglesAbove(at);
    }
    // An operation's last effect on a timestamp comes first, and hides its earlier effects on it.
    boolean sameOperation = timestamp == at && endedAt == sequence;
    endedByOverwriting = sameOperation ? endedByOverwriting : end > sequence;
    timestamp = at;
    endedAt = sequence;

    boolean pushedOut = surplus || sequence <= pushedOutThrough;
    if (!pushedOut && count > 0) {
      countLife(sequence, unseenPast ? Math.min(end, firstReachingAbove(at, sequence)) : end);
    }
    if (pushedOut) {
      return end == Long.MAX_VALUE ? Fate.PUSHED_OUT : Fate.PUSHED_OUT_AND_GONE;
    }
    if (end == Long.MAX_VALUE) {
      return Fate.LIVE;
    }
    return overwritten ? Fate.OVERWRITTEN : Fate.DELETED;
  }

  /** Whether all remaining versions of the column were pushed out. */
  boolean isFull() {
    return pushedOutThrough == Long.MAX_VALUE;
  }

  private void countLife(long from, long to) {
    if (from >= to) {
      return; // Written and gone in one operation: it never existed at any moment.
    }
    if (tombstones) {
      addLife(from, to);
      return;
    }
    if (plain == plainFrom.length) {
      plainFrom = Arrays.copyOf(plainFrom, plain * 2);
      plainTo = Arrays.copyOf(plainTo, plain * 2);
    }
    plainFrom[plain] = from;
    plainTo[plain] = to;
    plain++;
    if (to == Long.MAX_VALUE && ++plainLive >= count) {
      pushedOutThrough = Long.MAX_VALUE; // Nothing is deleted: they are enough now if ever.
    }
  }

  private void beginTombstones() {
    if (!tombstones) {
      tombstones = true;
      lives.clear();
      formerLives.clear();
      for (int i = 0; i < plain; i++) {
        addLife(plainFrom[i], plainTo[i]);
      }
    }
  }

  /** Each part of the life counts for the number of versions that counted then. */
  private void addLife(long from, long to) {
    long start = from;
    for (int i = 0; i < former.size() && start < to; i++) {
      FormerCount then = former.get(i);
      long end = Math.min(to, then.through());
      if (start < end) {
        if (then.versions() > 0) {
          pushedOutThrough =
              Math.max(pushedOutThrough, formerLives(i).add(start, end, then.versions()));
        }
        start = end;
      }
    }
    if (start < to) {
      pushedOutThrough = Math.max(pushedOutThrough, lives.add(start, to, count));
    }
  }

  private LifeCount formerLives(int i) {
    while (formerLives.size() <= i) {
      formerLives.add(new LifeCount());
    }
    return formerLives.get(i);
  }

  /**
   * The sequence number of the first tombstone after a version that deleted a greater timestamp.
   */
  private long firstReachingAbove(long at, long sequence) {
    long first = ranges.firstAbove(at, sequence);
    int start = 0;
    while (start < singlesAbove) {
      int end = start + Integer.highestOneBit(singlesAbove - start);
      int next = Arrays.binarySearch(singleSequence, start, end, sequence + 1);
      next = next < 0 ? ~next : next;
      first = next < end ? Math.min(first, singleSequence[next]) : first;
      start = end;
    }
    return first;
  }

  /** Adds the tombstones of timestamps above {@code at} to the runs. */
  private void addSinglesAbove(long at) {
    if (timestamp == at) {
      return;
    }
    while (singlesAbove < singles) {
      singlesAbove++;
      int run = Integer.lowestOneBit(singlesAbove);
      if (run > 1) {
        Arrays.sort(singleSequence, singlesAbove - run, singlesAbove);
      }
    }
  }
}
