package io.stele.tablet;

import com.google.errorprone.annotations.concurrent.GuardedBy;

/**
 * Limits the memory in which the tablets of a server remember their clients' operations.
 *
 * <p>While all together use more than the limit, each tablet that uses more than an even share
 * forgets or refuses operations. So they never use more than twice the limit plus what is in flight
 * and one operation of each known client, and no tablet is refused because of others.
 *
 * <p>Operations take far less once a minor compaction has written them to a file. So if minor
 * compactions are made when this {@link #isTight is tight}, a tablet that they help waits for one,
 * and does not forget operations that a client may still send again.
 *
 * <p>Safe for use by any number of threads.
 */
public final class OperationBudget {
  private static final double COMPACT_ABOVE = 0.7; // Before jobs are refused.

  /** Jobs leave one in so many parts to other clients. */
  private static final int OTHERS_PART = 4;

  private final long bytesMax;
  private final boolean compacted;

  @GuardedBy("this")
  private long bytes;

  @GuardedBy("this")
  private int sharers;

  /** A budget of {@code bytesMax}. */
  public OperationBudget(long bytesMax) {
    this(bytesMax, false);
  }

  private OperationBudget(long bytesMax, boolean compacted) {
    this.bytesMax = bytesMax;
    this.compacted = compacted;
  }

  /** A budget of {@code bytesMax} for tablets that are compacted when the budget is tight. */
  public static OperationBudget compacted(long bytesMax) {
    return new OperationBudget(bytesMax, true);
  }

  /** Whether tablets are compacted when the budget is tight. */
  boolean isCompacted() {
    return compacted;
  }

  /** Whether minor compactions of the tablets that remember much should make room. */
  public synchronized boolean isTight() {
    return bytes > bytesMax * COMPACT_ABOVE;
  }

  /** Whether all tablets together use more than the limit. */
  public synchronized boolean isFull() {
    return bytes > bytesMax;
  }

  /** A budget without a limit. */
  public static OperationBudget unlimited() {
    return new OperationBudget(Long.MAX_VALUE);
  }

  /** The memory that all tablets use together. */
  public synchronized long bytes() {
    return bytes;
  }

  synchronized void join() {
    sharers++;
  }

  /** Removes a tablet that used {@code own}. */
  synchronized void leave(long own) {
    sharers--;
    bytes -= own;
  }

  /** Adds {@code change}, which may be negative, to the use of one tablet. */
  synchronized void add(long change) {
    bytes += change;
  }

  /** By how many bytes a tablet that uses {@code own} exceeds its share; 0: it may use more. */
  synchronized long excess(long own) {
    return isFull() ? Math.max(0, own - share()) : 0;
  }

  /**
   * The same for a tablet whose jobs use {@code jobBytes}, of which they may use three quarters of
   * its share while all together use more than three quarters of the limit.
   */
  synchronized long excessOfJobs(long jobBytes) {
    boolean isScarce = bytes > bytesMax - bytesMax / OTHERS_PART;
    return isScarce ? Math.max(0, jobBytes - (share() - shareOfOthers())) : 0;
  }

  /** What jobs leave to other clients of one tablet. */
  synchronized long shareOfOthers() {
    return share() / OTHERS_PART;
  }

  /** The even share of one tablet. */
  public synchronized long share() {
    return bytesMax / Math.max(1, sharers);
  }
}
