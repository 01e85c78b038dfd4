package io.stele.client;

import io.stele.model.SteleException;
import io.stele.runtime.Deadline;
import io.stele.runtime.Futures;
import io.stele.runtime.IoCallable;
import io.stele.runtime.ProcessRuntime;
import io.stele.runtime.Timer;
import io.stele.runtime.WorkerPool;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;

/**
 * Reads of the lock service that end by their caller's deadline, even while it hangs: a call to it
 * waits as long as a session may be silent, and nothing interrupts it.
 *
 * <p>Safe for use by any number of threads.
 */
final class LockReads implements AutoCloseable {
  /** A read of a service that hangs occupies a thread. */
  private static final int THREADS = 4;

  private final ProcessRuntime runtime;
  private final WorkerPool threads;

  LockReads(ProcessRuntime runtime) {
    this.runtime = runtime;
    this.threads = runtime.pool("stele-lock-reader", THREADS);
  }

  /**
   * Makes {@code read}, on another thread, and waits for it until {@code deadline}.
   *
   * @param what for messages: "reading the schema of table t"
   * @throws SteleException RETRY_LATER where it takes longer
   */
  <T> T read(String what, Deadline deadline, IoCallable<T> read) throws IOException {
    return Futures.await(runtime, readAsync(what, deadline, read), what);
  }

  /** As {@link #read}, without waiting. */
  <T> CompletableFuture<T> readAsync(String what, Deadline deadline, IoCallable<T> read) {
    CompletableFuture<T> result = new CompletableFuture<>();
    Timer timer =
        runtime.after(
            deadline.remaining(),
            () ->
                result.completeExceptionally(
                    SteleException.retryLater(
                        what + ": ZooKeeper has not answered in time. Check that it runs")));
    result.whenComplete((done, failure) -> timer.cancel());
    try {
      threads.execute(() -> make(read, result));
    } catch (RejectedExecutionException e) {
      result.completeExceptionally(
          new IllegalStateException("this connection to the cluster is closed", e));
    }
    return result;
  }

  private static <T> void make(IoCallable<T> read, CompletableFuture<T> result) {
    if (result.isDone()) {
      return; // Nobody waits any more.
    }
    try {
      result.complete(read.call());
    } catch (IOException | RuntimeException | Error e) {
      result.completeExceptionally(e);
    }
  }

  @Override
  public void close() {
    threads.close();
  }
}
