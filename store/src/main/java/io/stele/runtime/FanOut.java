package io.stele.runtime;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.Collection;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

/**
 * Does the same for each of many items, several at a time: the caller and some threads of a pool
 * take one after another. If the pool is busy or closed, the caller does all the work alone.
 *
 * <p>Safe for use by any number of threads. The caller blocks until the work is done, which must be
 * safe for use by several threads at a time.
 */
public final class FanOut<T> {
  private final Queue<T> rest;
  private final IoConsumer<T> work;
  private final AtomicInteger busy = new AtomicInteger(1); // The caller.
  private final CompletableFuture<Void> done = new CompletableFuture<>();
  private final AtomicReference<Throwable> failure = new AtomicReference<>();

  private FanOut(Collection<T> items, IoConsumer<T> work) {
    this.rest = new ConcurrentLinkedQueue<>(items);
    this.work = work;
  }

  /**
   * Returns when {@code work} was done for all {@code items}. If it throws, items that were not
   * begun are left, and the first exception is thrown again.
   *
   * @param atOnce at most so many at a time
   * @throws InterruptedException if the caller was interrupted; what was begun goes on
   */
  public static <T> void each(
      ProcessRuntime runtime, WorkerPool pool, int atOnce, Collection<T> items, Consumer<T> work)
      throws InterruptedException {
    try {
      doAll(runtime, pool, atOnce, items, work::accept);
    } catch (IOException e) {
      throw new AssertionError("a Consumer throws none", e);
    }
  }

  /**
   * The same for work that may throw an {@link IOException}, which is thrown again like the others.
   *
   * @param what for the message of an interruption: "copying open segments"
   * @throws IOException if {@code work} throws it, or the caller was interrupted ({@link
   *     InterruptedIOException}); it is then still interrupted, and what was begun goes on
   */
  public static <T> void eachIo(
      ProcessRuntime runtime,
      WorkerPool pool,
      int atOnce,
      Collection<T> items,
      IoConsumer<T> work,
      String what)
      throws IOException {
    try {
      doAll(runtime, pool, atOnce, items, work);
    } catch (InterruptedException e) {
      throw Futures.interrupted(e, what);
    }
  }

  private static <T> void doAll(
      ProcessRuntime runtime, WorkerPool pool, int atOnce, Collection<T> items, IoConsumer<T> work)
      throws IOException, InterruptedException {
    FanOut<T> all = new FanOut<>(items, work);
    try {
      for (int i = 1; i < Math.min(atOnce, items.size()); i++) {
        pool.execute(all::help);
      }
    } catch (RejectedExecutionException e) {
      // The pool was closed: those that began, and the caller, do it all.
    }
    all.takeAll();
    all.await(runtime);
  }

  private void help() {
    busy.incrementAndGet();
    takeAll();
  }

  private void takeAll() {
    try {
      for (T item = rest.poll(); item != null; item = rest.poll()) {
        work.accept(item);
      }
    } catch (IOException | RuntimeException | Error e) {
      failure.compareAndSet(null, e);
      rest.clear();
    } finally {
      if (busy.decrementAndGet() == 0) {
        done.complete(null);
      }
    }
  }

  private void await(ProcessRuntime runtime) throws IOException, InterruptedException {
    try {
      runtime.await(done);
    } catch (ExecutionException e) {
      throw new AssertionError("it completes without a failure", e);
    }
    Throwable first = failure.get();
    if (first instanceof IOException e) {
      throw e;
    }
    if (first instanceof RuntimeException e) {
      throw e;
    }
    if (first instanceof Error e) {
      throw e;
    }
  }
}
