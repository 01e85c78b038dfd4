package io.stele.runtime;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.stele.model.SteleException;

/**
 * An amount of memory that several users share, in bytes. A user that is alone gets whatever it
 * asks for.
 *
 * <p>Safe for use by any number of threads.
 */
public final class MemoryRoom {
  private final String what;
  private final long bytesMax;

  @GuardedBy("this")
  private long bytes;

  /**
   * Room of {@code bytesMax}.
   *
   * @param what it is for, for messages
   */
  public MemoryRoom(String what, long bytesMax) {
    this.what = what;
    this.bytesMax = bytesMax;
  }

  /** Room without an end. */
  public static MemoryRoom unlimited() {
    return new MemoryRoom("anything", Long.MAX_VALUE);
  }

  /** What all have together. */
  public synchronized long bytes() {
    return bytes;
  }

  /** What one has of it, until it is closed. For use by one thread. */
  public final class Share implements MemoryClaim, AutoCloseable {
    private final boolean within;
    private long own;
    private long unused; // Of its own.
    private boolean isTooMuch;

    private Share(boolean within) {
      this.within = within;
    }

    @Override
    public void take(long bytes) {
      long more = Math.max(0, bytes - unused);
      isTooMuch = within && own + more > bytesMax;
      if (isTooMuch) {
        throw noRoom();
      }
      if (more > 0) {
        MemoryRoom.this.take(own, more);
      }
      own += more;
      unused -= bytes - more;
    }

    /**
     * What it has is free again, and stays its own: as much can be taken once more, whatever others
     * have.
     */
    public void reuse() {
      unused = own;
    }

    /** Whether it was refused what there is no room for even if nobody else has any. */
    public boolean isTooMuch() {
      return isTooMuch;
    }

    @Override
    public void close() {
      release(own);
      own = 0;
      unused = 0;
    }
  }

  /** A share that has nothing yet. */
  public Share open() {
    return new Share(false);
  }

  /** The same of one that does not get more than there is even if it is alone. */
  public Share openWithin() {
    return new Share(true);
  }

  private synchronized void take(long own, long more) {
    if (bytes > own && bytes + more > bytesMax) {
      throw noRoom();
    }
    bytes += more;
  }

  private synchronized SteleException noRoom() {
    return SteleException.retryLater(
        "there is no room for " + what + " at the moment: " + bytes + " of " + bytesMax + " bytes");
  }

  private synchronized void release(long gone) {
    bytes -= gone;
  }
}
