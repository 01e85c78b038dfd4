package io.stele.wire;

import com.google.errorprone.annotations.concurrent.GuardedBy;

/**
 * The memory of the answers of one {@link TrafficClass} that wait to be sent: it is outside the
 * heap. Once half of it is taken, a connection that has answers waiting gets no more than an eighth
 * of it: a peer that does not read its answers must not take the room of the others.
 *
 * <p>Safe for use by any number of threads.
 */
final class AnswerRoom {
  /** Of the room: what one connection may have while others need the rest. */
  private static final int CONNECTION_SHARE = 8;

  /** A connection with more than this waiting to be sent does not read its answers as they come. */
  private static final long BEHIND_BYTES = 8 << 20;

  private final long bytesMax;

  @GuardedBy("this")
  private long bytes;

  AnswerRoom(long bytesMax) {
    this.bytesMax = bytesMax;
  }

  /** What one connection has of it. Safe for use by any number of threads. */
  final class Share {
    private long own; // Guarded by the room.

    /**
     * Takes room for an answer; false where there is none now. The only answer of all always gets
     * it.
     */
    boolean tryTake(long answerBytes) {
      return AnswerRoom.this.tryTake(this, answerBytes);
    }

    /** Counts an answer that must be given. */
    void take(long answerBytes) {
      change(this, answerBytes);
    }

    /** An answer was sent, or its connection is gone. */
    void release(long answerBytes) {
      change(this, -answerBytes);
    }

    /** Whether so much waits to be sent on this connection that no more should be made ready. */
    boolean isBehind() {
      return AnswerRoom.this.isBehind(this);
    }

    @Override
    public String toString() {
      return AnswerRoom.this.describe(this);
    }
  }

  /** The share of a new connection. */
  Share share() {
    return new Share();
  }

  private synchronized boolean tryTake(Share share, long answerBytes) {
    boolean isFull = bytes > 0 && bytes + answerBytes > bytesMax;
    boolean isGreedy =
        share.own > 0
            && bytes + answerBytes > bytesMax / 2
            && share.own + answerBytes > bytesMax / CONNECTION_SHARE;
    if (isFull || isGreedy) {
      return false;
    }
    bytes += answerBytes;
    share.own += answerBytes;
    return true;
  }

  private synchronized void change(Share share, long more) {
    bytes += more;
    share.own += more;
  }

  private synchronized boolean isBehind(Share share) {
    return share.own > Math.min(BEHIND_BYTES, bytesMax / 2);
  }

  synchronized long bytes() {
    return bytes;
  }

  private synchronized String describe(Share share) {
    return bytes
        + " of "
        + bytesMax
        + " bytes of answers wait to be sent, "
        + share.own
        + " of them on this connection";
  }
}
