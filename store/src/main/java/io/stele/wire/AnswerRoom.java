package io.stele.wire;

import com.google.errorprone.annotations.concurrent.GuardedBy;

/**
 * The memory of answers that wait to be sent: it is outside the heap. Safe for use by any number of
 * threads.
 */
final class AnswerRoom {
  private final long bytesMax;

  @GuardedBy("this")
  private long bytes;

  AnswerRoom(long bytesMax) {
    this.bytesMax = bytesMax;
  }

  /** Takes room for an answer; false where there is none now. The only one always gets it. */
  synchronized boolean tryTake(long answerBytes) {
    if (bytes > 0 && bytes + answerBytes > bytesMax) {
      return false;
    }
    bytes += answerBytes;
    return true;
  }

  /** Counts an answer that must be given. */
  synchronized void take(long answerBytes) {
    bytes += answerBytes;
  }

  /** An answer was sent, or its connection is gone. */
  synchronized void letGo(long answerBytes) {
    bytes -= answerBytes;
  }

  synchronized long bytes() {
    return bytes;
  }

  @Override
  public synchronized String toString() {
    return bytes + " of " + bytesMax + " bytes of answers wait to be sent";
  }
}
