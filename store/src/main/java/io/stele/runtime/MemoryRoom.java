package io.stele.runtime;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.stele.model.SteleException;

/**
 * Memory that several have together, counted in bytes. Whoever is alone gets what it asks for.
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
    private long own;

    @Override
    public void take(long more) {
      MemoryRoom.this.take(own, more);
      own += more;
    }

    @Override
    public void close() {
      letGo(own);
      own = 0;
    }
  }

  /** A share that has nothing yet. */
  public Share open() {
    return new Share();
  }

  private synchronized void take(long own, long more) {
    if (bytes > own && bytes + more > bytesMax) {
      throw SteleException.retryLater(
          "there is no room for "
              + what
              + " at the moment: "
              + bytes
              + " of "
              + bytesMax
              + " bytes");
    }
    bytes += more;
  }

  private synchronized void letGo(long gone) {
    bytes -= gone;
  }
}
