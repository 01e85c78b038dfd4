package io.stele.log;

import java.time.Duration;
import java.util.Arrays;

/**
 * Measures flushes, and decides when one is so slow that the log switches to its other writer.
 *
 * <p>Slow is {@link #SLOW_MIN} or {@link #SLOW_FACTOR} times the recent median, whichever is
 * longer: the first is far above what a healthy pipeline takes and below what a client notices
 * much; the second keeps a log on a slow file system from switching in vain. And since every switch
 * leaves a small file and asks the NameNode for another, there is at most one in {@link
 * #SWITCH_INTERVAL}: the median then has the time to become what is usual.
 *
 * <p>Not safe for use by several threads.
 */
final class SlowFlushes {
  static final Duration SLOW_MIN = Duration.ofMillis(200);
  static final int SLOW_FACTOR = 8;
  static final Duration SWITCH_INTERVAL = Duration.ofSeconds(10);

  private static final int KEPT = 1024;
  private static final int RECENT = 64;

  private final long[] nanos = new long[KEPT]; // Of the last flushes, in a ring.
  private long count;
  private long switches;
  private long lastSwitchNanos;

  /** A flush has come to its end. */
  void add(long tookNanos) {
    nanos[(int) (count++ % KEPT)] = tookNanos;
  }

  /**
   * Whether a flush that has taken {@code ageNanos} so far is slow.
   *
   * @param rolls whether it is the last of a segment, which syncs all of that: to switch then would
   *     gain little and leave a segment that is not on disk before another
   */
  boolean isSlow(long ageNanos, boolean rolls) {
    long age = rolls ? ageNanos / SLOW_FACTOR : ageNanos;
    return age > SLOW_MIN.toNanos() && age > SLOW_FACTOR * percentile(RECENT, 50);
  }

  /** Whether enough time has passed since the last switch. */
  boolean maySwitch(long nowNanos) {
    return switches == 0 || nowNanos - lastSwitchNanos >= SWITCH_INTERVAL.toNanos();
  }

  /** The log has switched. */
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
