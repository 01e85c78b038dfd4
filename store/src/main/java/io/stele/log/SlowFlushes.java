package io.stele.log;

import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;

/**
 * Measures flushes, and decides when one is so slow that the log switches to another writer.
 *
 * <p>A flush is slow after {@link #SLOW_MIN} or {@link #SLOW_FACTOR} times the recent median,
 * whichever is longer. The first is far above what a healthy pipeline takes, and below what clients
 * notice much; the second keeps a log on a slow file system from useless switches. Every switch
 * leaves a small file and asks the NameNode for another, so there is at most one in {@link
 * #SWITCH_INTERVAL}: this gives the median time to adapt.
 *
 * <p>A batch that has moved may move again at once, as a DataNode that hangs may be in both files,
 * but has twice the time in each file: it gets through however slow the file system is.
 *
 * <p>Not safe for use by several threads.
 */
final class SlowFlushes {
  static final Duration SLOW_MIN = Duration.ofMillis(200);
  static final int SLOW_FACTOR = 8;
  static final Duration SWITCH_INTERVAL = Duration.ofSeconds(10);

  /** How long a batch that has moved once may take. */
  static final Duration MOVED_SLOW_MIN = Duration.ofSeconds(1);

  private static final int DOUBLINGS_MAX = 10;

  /** HDFS gives up a DataNode after a minute. A few such flushes must not be the median. */
  private static final Duration HUNG = Duration.ofSeconds(30);

  /** How long the watch sleeps between two looks at what may be slow. */
  private static final Duration WATCH_INTERVAL = Duration.ofMillis(20);

  private static final int KEPT = 1024;
  private static final int RECENT = 64;

  private final long[] nanos = new long[KEPT]; // Of the last flushes, in a ring.
  private long count;
  private long switches;
  private long lastSwitchNanos;
  private Optional<BatchInFlight> suspect = Optional.empty(); // Was slow at the last look.

  /** Adds a flush that has ended, unless it took so long that it hung rather than was slow. */
  void add(long tookNanos) {
    if (tookNanos > HUNG.toNanos()) {
      return;
    }
    nanos[(int) (count++ % KEPT)] = tookNanos;
  }

  /** When the next look is due: no flush under way, or begun from now on, can be slow sooner. */
  long nanosToNextLook(Optional<BatchInFlight> underWay, long nowNanos) {
    long age = underWay.map(one -> nowNanos - one.sinceNanos).orElse(0L);
    return Math.max(WATCH_INTERVAL.toNanos(), SLOW_MIN.toNanos() - age);
  }

  /**
   * Looks at the flush under way, and records a switch if it is slow.
   *
   * @param underWay empty if there is none, or no writer to switch to
   * @return whether the log is to switch to the writer that stands by
   */
  boolean switchIfSlow(Optional<BatchInFlight> underWay, long nowNanos) {
    Optional<BatchInFlight> slow =
        underWay.filter(one -> isSlow(nowNanos - one.sinceNanos, one.rolls));
    // Only at the second look: if the whole process stood still, the flush may be about to end.
    boolean switches = slow.isPresent() && slow.equals(suspect) && mayMove(slow.get(), nowNanos);
    suspect = switches ? Optional.empty() : slow;
    if (switches) {
      switched(nowNanos);
    }
    return switches;
  }

  /**
   * Whether a flush that has taken {@code ageNanos} so far is slow.
   *
   * @param rolls whether it is the last flush of a segment, which syncs the whole segment: a switch
   *     would then gain little, and leave a segment that is not synced before another one
   */
  boolean isSlow(long ageNanos, boolean rolls) {
    long age = rolls ? ageNanos / SLOW_FACTOR : ageNanos;
    return age > SLOW_MIN.toNanos() && age > SLOW_FACTOR * percentile(RECENT, 50);
  }

  private boolean mayMove(BatchInFlight batch, long nowNanos) {
    if (batch.moves == 0) {
      return maySwitch(nowNanos);
    }
    int doublings = Math.min(batch.moves - 1, DOUBLINGS_MAX);
    return nowNanos - batch.sinceNanos >= MOVED_SLOW_MIN.toNanos() << doublings;
  }

  /** Whether enough time has passed since the last switch. */
  boolean maySwitch(long nowNanos) {
    return switches == 0 || nowNanos - lastSwitchNanos >= SWITCH_INTERVAL.toNanos();
  }

  /** Records a switch of the log. */
  void switched(long nowNanos) {
    switches++;
    lastSwitchNanos = nowNanos;
  }

  /** How often the log has switched. */
  long switches() {
    return switches;
  }

  /** The given percentile of the durations kept. */
  Duration percentile(int percent) {
    return Duration.ofNanos(percentile(KEPT, percent));
  }

  private long percentile(int of, int percent) {
    int length = (int) Math.min(count, of);
    if (length == 0) {
      return 0;
    }
    long[] last = new long[length];
    for (int i = 0; i < length; i++) {
      last[i] = nanos[(int) ((count - 1 - i) % KEPT)];
    }
    Arrays.sort(last);
    return last[(int) Math.min(length - 1L, (long) length * percent / 100)];
  }
}
