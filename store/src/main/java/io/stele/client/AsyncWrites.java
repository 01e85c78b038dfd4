package io.stele.client;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.stele.model.RowOperation;
import io.stele.model.SteleException;
import java.util.Collection;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/**
 * Bounds the memory of writes that their callers do not wait for: above the limits a call fails at
 * once, before anything was sent. It does not wait, as callbacks on the connection's threads make
 * such calls, too.
 *
 * <p>One call is always admitted, so that the largest one can be made at all. Safe for use by any
 * number of threads.
 */
final class AsyncWrites {
  /** How many operations may be in progress, in calls of one connection that do not wait. */
  static final int OPERATIONS_MAX = 1 << 16;

  /** How many bytes these may have. */
  static final long BYTES_MAX = 64L << 20;

  private final int operationsMax;
  private final long bytesMax;

  @GuardedBy("this")
  private int calls;

  @GuardedBy("this")
  private int operations;

  @GuardedBy("this")
  private long bytes;

  /** With the limits of a connection. */
  AsyncWrites() {
    this(OPERATIONS_MAX, BYTES_MAX);
  }

  AsyncWrites(int operationsMax, long bytesMax) {
    this.operationsMax = operationsMax;
    this.bytesMax = bytesMax;
  }

  /**
   * Makes a call that writes {@code written}, if there is room for it until it ends.
   *
   * @return fails at once with RETRY_LATER if there is none: nothing is sent then
   */
  <T> CompletableFuture<T> admit(
      Collection<? extends RowOperation> written, Supplier<CompletableFuture<T>> call) {
    int count = written.size();
    long size = 0;
    for (RowOperation operation : written) {
      size += SubmittedOperation.bytes(operation);
    }
    long taken = size;
    if (!enter(count, taken)) {
      return CompletableFuture.failedFuture(full());
    }
    CompletableFuture<T> result;
    try {
      result = call.get();
    } catch (RuntimeException | Error e) {
      leave(count, taken);
      throw e;
    }
    // A copy: whoever cancels what is returned, or has it time out, ends no write.
    return result.whenComplete((value, failure) -> leave(count, taken)).copy();
  }

  private synchronized boolean enter(int count, long size) {
    if (calls > 0 && (operations + count > operationsMax || bytes + size > bytesMax)) {
      return false;
    }
    calls++;
    operations += count;
    bytes += size;
    return true;
  }

  private synchronized void leave(int count, long size) {
    calls--;
    operations -= count;
    bytes -= size;
  }

  private synchronized SteleException full() {
    return SteleException.retryLater(
        "too many asynchronous writes are in progress on this connection ("
            + operations
            + " operations with "
            + bytes
            + " bytes; the limits are "
            + operationsMax
            + " and "
            + bytesMax
            + "): wait for some of them, or use a BatchWriter, which waits by itself");
  }
}
