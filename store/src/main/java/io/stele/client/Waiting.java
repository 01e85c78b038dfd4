package io.stele.client;

import io.stele.runtime.Durations;
import io.stele.runtime.Futures;
import io.stele.runtime.ProcessRuntime;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * How the calls of a connection wait. Whoever asked for it is told every few seconds, on the
 * waiting thread, that a wait goes on: so a task of a job tells Hadoop that it is alive.
 *
 * <p>Safe for use by any number of threads, as {@code tick} is.
 *
 * @param runtime whose clock counts
 * @param tick called when a wait begins and every {@link #INTERVAL} of it; must not block or throw
 * @param waits says what calls wait for that take long
 */
record Waiting(ProcessRuntime runtime, Optional<Runnable> tick, LongWaits waits) {
  /** Well below any time-out of a task that makes sense. */
  static final Duration INTERVAL = Duration.ofSeconds(2);

  /** Waits without telling anybody. */
  static Waiting silent(ProcessRuntime runtime) {
    return of(runtime, Optional.empty());
  }

  /** Waits and calls {@code tick}, which may be there. */
  static Waiting of(ProcessRuntime runtime, Optional<Runnable> tick) {
    return new Waiting(runtime, tick, LongWaits.UNSAID);
  }

  /**
   * Waits for the result of {@code future}, as {@link #await(CompletableFuture, String)} does, and
   * says {@code line} if that takes long.
   */
  <T> T await(CompletableFuture<T> future, String what, String line) throws IOException {
    return await(future, what, waits.begin(), line);
  }

  /**
   * Waits for the result of {@code future}, as {@link Futures#await} does.
   *
   * @param what for the message of an interruption
   */
  <T> T await(CompletableFuture<T> future, String what) throws IOException {
    return await(future, what, LongWaits.UNSAID.begin(), "");
  }

  private <T> T await(CompletableFuture<T> future, String what, LongWaits.Wait wait, String line)
      throws IOException {
    long start = runtime.nanoTime();
    try {
      while (!future.isDone() && (tick.isPresent() || wait.next().isPresent())) {
        tick.ifPresent(Runnable::run);
        Duration elapsed = Duration.ofNanos(runtime.nanoTime() - start);
        Duration untilSaid = wait.next().map(next -> next.minus(elapsed)).orElse(INTERVAL);
        runtime.await(future, tick.isPresent() ? Durations.min(INTERVAL, untilSaid) : untilSaid);
        if (!future.isDone()) {
          wait.goesOn(Duration.ofNanos(runtime.nanoTime() - start), () -> line);
        }
      }
    } catch (InterruptedException e) {
      throw Futures.interrupted(e, what);
    }
    return Futures.await(runtime, future, what);
  }
}
