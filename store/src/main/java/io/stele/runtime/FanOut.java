package io.stele.runtime;

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
 */
public final class FanOut<T> {
  private final Queue<T> rest;
  private final Consumer<T> work;
  private final AtomicInteger busy = new AtomicInteger(1); // The caller.
  private final CompletableFuture<Void> done = new CompletableFuture<>();
  private final AtomicReference<Throwable> failure = new AtomicReference<>();

  private FanOut(Collection<T> items, Consumer<T> work) {
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
    } catch (RuntimeException | Error e) {
      failure.compareAndSet(null, e);
      rest.clear();
    } finally {
      if (busy.decrementAndGet() == 0) {
        done.complete(null);
      }
    }
  }

  private void await(ProcessRuntime runtime) throws InterruptedException {
    try {
      runtime.await(done);
    } catch (ExecutionException e) {
      throw new AssertionError("it completes without a failure", e);
    }
    Throwable first = failure.get();
    if (first instanceof RuntimeException e) {
      throw e;
    }
    if (first instanceof Error e) {
      throw e;
    }
  }
}
