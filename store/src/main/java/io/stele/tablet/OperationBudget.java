package io.stele.tablet;

import com.google.errorprone.annotations.concurrent.GuardedBy;

/**
 * Limits the memory in which the tablets of a server remember their clients' operations.
 *
 * <p>While all together use more than the limit, each tablet that uses more than an even share
 * forgets or refuses operations. So they never use more than twice the limit plus what is in
 * flight, and no tablet is refused because of others. Safe for use by any number of threads.
 */
public final class OperationBudget {
  private final long bytesMax;

  @GuardedBy("this")
  private long bytes;

  @GuardedBy("this")
  private int sharers;

  /** A budget of {@code bytesMax}. */
  public OperationBudget(long bytesMax) {
    this.bytesMax = bytesMax;
  }

  /** One that is never used up. */
  public static OperationBudget unlimited() {
    return new OperationBudget(Long.MAX_VALUE);
  }

  /** What all take together. */
  public synchronized long bytes() {
    return bytes;
  }

  synchronized void join() {
    sharers++;
  }

  /** One leaves that takes {@code own}. */
  synchronized void leave(long own) {
    sharers--;
    bytes -= own;
  }

  /** One takes {@code change} more, or less. */
  synchronized void add(long change) {
    bytes += change;
  }

  /** How many bytes one that takes {@code own} has above its share; 0: it may take more. */
  synchronized long excess(long own) {
    return bytes > bytesMax ? Math.max(0, own - share()) : 0;
  }

  /** The even share of one. */
  synchronized long share() {
    return bytesMax / Math.max(1, sharers);
  }
}
