package io.stele.wire;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.concurrent.CompletableFuture;

/**
 * The requests that a server has accepted and not yet answered, and the memory that they take, for
 * their frames and for their copies. Above the limits it accepts no more, and from one connection
 * at most half.
 *
 * <p>Safe for use by any number of threads.
 */
final class Admission {
  private final int requestsMax;
  private final long bytesMax;
  private final CompletableFuture<Void> idle = new CompletableFuture<>();

  @GuardedBy("this")
  private int requests;

  @GuardedBy("this")
  private long bytes;

  @GuardedBy("this")
  private int unsent;

  @GuardedBy("this")
  private long refused;

  @GuardedBy("this")
  private boolean closed;

  Admission(int requestsMax, long bytesMax) {
    this.requestsMax = requestsMax;
    this.bytesMax = bytesMax;
  }

  /** What one connection has of it. Safe for use by any number of threads. */
  final class Share {
    private int own; // All guarded by the admission.
    private long ownBytes;
    private int ownUnsent;

    /** Admits a request, or says that there is no room for it. */
    boolean admit(long requestBytes) {
      return Admission.this.admit(this, requestBytes);
    }

    /** Whether no request waits for its answer, and no answer to be sent. */
    boolean isIdle() {
      return Admission.this.isIdle(this);
    }

    /** The most that all requests may take. */
    long bytesMax() {
      return bytesMax;
    }

    @Override
    public String toString() {
      return Admission.this.toString();
    }

    /**
     * Takes more for a request that was admitted and has {@code own} bytes; false where there is no
     * room now. The only request may have all.
     */
    boolean takeMore(long own, long more) {
      return Admission.this.takeMore(this, own, more);
    }

    /** A request will not be answered: it and its bytes are done with. */
    void abandoned(long requestBytes) {
      change(this, -1, -requestBytes, 0);
    }

    /** A request was answered: its bytes are done with, the answer is to be sent. */
    void answered(long requestBytes) {
      change(this, -1, -requestBytes, 1);
    }

    /** An answer was sent, or its connection is gone. */
    void sent() {
      change(this, 0, 0, -1);
    }
  }

  /** The share of a new connection. */
  Share share() {
    return new Share();
  }

  private synchronized boolean admit(Share share, long requestBytes) {
    // A server with nothing to do takes any request, so that the largest one can be served at all.
    if (closed || requests >= requestsMax || (bytes > 0 && bytes + requestBytes > bytesMax)) {
      refused++;
      return false;
    }
    // Once half is taken, no connection may have more than half: the rest is for others.
    boolean greedy =
        (requests >= (requestsMax + 1) / 2 && share.own > requestsMax / 2)
            || (share.ownBytes > 0
                && bytes + requestBytes > bytesMax / 2
                && share.ownBytes + requestBytes > bytesMax / 2);
    if (greedy) {
      refused++;
      return false;
    }
    requests++;
    bytes += requestBytes;
    share.own++;
    share.ownBytes += requestBytes;
    return true;
  }

  private synchronized boolean isIdle(Share share) {
    return share.own == 0 && share.ownUnsent == 0;
  }

  private synchronized boolean takeMore(Share share, long own, long more) {
    if (bytes > own && bytes + more > bytesMax) {
      return false;
    }
    bytes += more;
    share.ownBytes += more;
    return true;
  }

  /**
   * Accepts nothing from now on.
   *
   * @return completes when all is answered and sent
   */
  CompletableFuture<Void> close() {
    synchronized (this) {
      closed = true;
    }
    change(new Share(), 0, 0, 0);
    return idle;
  }

  private void change(Share share, int moreRequests, long moreBytes, int moreUnsent) {
    boolean done;
    synchronized (this) {
      requests += moreRequests;
      bytes += moreBytes;
      unsent += moreUnsent;
      share.own += moreRequests;
      share.ownBytes += moreBytes;
      share.ownUnsent += moreUnsent;
      done = closed && requests == 0 && unsent == 0;
    }
    if (done) {
      idle.complete(null);
    }
  }

  synchronized int requests() {
    return requests;
  }

  synchronized long bytes() {
    return bytes;
  }

  /** How many requests it had no room for. */
  synchronized long refused() {
    return refused;
  }

  @Override
  public synchronized String toString() {
    return closed
        ? "it is shutting down"
        : requests + " of " + requestsMax + " requests, " + bytes + " of " + bytesMax + " bytes";
  }
}
