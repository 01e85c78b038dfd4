package io.stele.wire;

/**
 * How much a server has taken on: requests not yet answered, and the bytes of requests and of
 * answers not yet sent. Above the limits it takes no more.
 *
 * <p>Safe for use by any number of threads.
 */
final class Admission {
  private final int requestsMax;
  private final long bytesMax;
  private int requests;
  private long bytes;
  private boolean closed;

  Admission(int requestsMax, long bytesMax) {
    this.requestsMax = requestsMax;
    this.bytesMax = bytesMax;
  }

  /** Takes on a request, or says that there is no room for it. */
  synchronized boolean admit(long requestBytes) {
    // A server with nothing to do takes any request, so that the largest one can be served at all.
    if (closed || requests >= requestsMax || (bytes > 0 && bytes + requestBytes > bytesMax)) {
      return false;
    }
    requests++;
    bytes += requestBytes;
    return true;
  }

  /** A request was answered: its own bytes are done with, the answer's wait to be sent. */
  synchronized void answered(long requestBytes, long answerBytes) {
    bytes += answerBytes - requestBytes;
    requests--;
    notifyAll();
  }

  /** An answer was sent, or its connection is gone. */
  synchronized void sent(long answerBytes) {
    bytes -= answerBytes;
    notifyAll();
  }

  /** From now on nothing is taken on. */
  synchronized void close() {
    closed = true;
  }

  /** Waits until all is answered and sent, for so long at most; whether it is. */
  synchronized boolean awaitIdle(long millis) throws InterruptedException {
    long deadline = System.nanoTime() + millis * 1_000_000;
    while (requests > 0 || bytes > 0) {
      long left = (deadline - System.nanoTime()) / 1_000_000;
      if (left <= 0) {
        return false;
      }
      wait(left);
    }
    return true;
  }

  synchronized int requests() {
    return requests;
  }

  synchronized long bytes() {
    return bytes;
  }

  @Override
  public synchronized String toString() {
    return closed
        ? "it is shutting down"
        : requests + " of " + requestsMax + " requests, " + bytes + " of " + bytesMax + " bytes";
  }
}
