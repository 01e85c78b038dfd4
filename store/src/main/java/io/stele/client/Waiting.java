package io.stele.client;

import io.stele.runtime.Futures;
import io.stele.runtime.ProcessRuntime;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/**
 * How the calls of a connection wait. Whoever asked for it is told every few seconds, on the
 * waiting thread, that a wait goes on: so a task of a job tells Hadoop that it is alive.
 *
 * <p>Safe for use by any number of threads, as {@code tick} is.
 *
 * @param runtime whose clock counts
 * @param tick called when a wait begins and every {@link #INTERVAL} of it; must not block or throw
 * @param teller told in a line, once for each call, that the call has waited for {@link #LONG} and
 *     for what; must not block or throw
 */
record Waiting(ProcessRuntime runtime, Optional<Runnable> tick, Consumer<String> teller) {
  /** Well below any time-out of a task that makes sense. */
  static final Duration INTERVAL = Duration.ofSeconds(2);

  /** A person who waits for longer than this wants to know why. */
  static final Duration LONG = Duration.ofSeconds(3);

  /** Is told nothing. */
  private record Nobody() implements Consumer<String> {
    @Override
    public void accept(String line) {}
  }

  /** Waits without telling anybody. */
  static Waiting silent(ProcessRuntime runtime) {
    return of(runtime, Optional.empty());
  }

  /** Waits and calls {@code tick}, which may be there. */
  static Waiting of(ProcessRuntime runtime, Optional<Runnable> tick) {
    return new Waiting(runtime, tick, new Nobody());
  }

  /**
   * Waits for the result of {@code future}, as {@link #await(CompletableFuture, String)} does, and
   * tells {@code line} if that takes {@link #LONG}.
   */
  <T> T await(CompletableFuture<T> future, String what, String line) throws IOException {
    if (!(teller instanceof Nobody) && tick.isEmpty()) { // What ticks is no person.
      try {
        if (!runtime.await(future, LONG)) {
          teller.accept(line);
        }
      } catch (InterruptedException e) {
        throw Futures.interrupted(e, what);
      }
    }
    return await(future, what);
  }

  /**
   * Waits for the result of {@code future}, as {@link Futures#await} does.
   *
   * @param what for the message of an interruption
   */
  <T> T await(CompletableFuture<T> future, String what) throws IOException {
    if (tick.isPresent()) {
      try {
        while (!future.isDone()) {
          tick.get().run();
          runtime.await(future, INTERVAL);
        }
      } catch (InterruptedException e) {
        throw Futures.interrupted(e, what);
      }
    }
    return Futures.await(runtime, future, what);
  }
}
