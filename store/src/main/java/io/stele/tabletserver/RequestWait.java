package io.stele.tabletserver;

import io.stele.model.SteleException;
import io.stele.runtime.ProcessRuntime;
import io.stele.runtime.Signal;
import io.stele.runtime.Timer;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

/**
 * The wait of a request of which nothing was done yet: until what it waits for is over, but not
 * beyond its deadline. Without the deadline, requests that wait for what never comes would pile up
 * until the server accepts no more.
 *
 * <p>Safe for use by any number of threads; never waits itself. What becomes of the request runs on
 * the caller's thread, a timer's, or one that ends what is waited for: it must not block.
 */
final class RequestWait {
  /** What becomes of the request: one of the two, once. */
  private record Waiting(Runnable goOn, Consumer<Throwable> fail) {}

  /** Empty when the wait is over: what is waited for then keeps nothing of the request. */
  private final AtomicReference<Optional<Waiting>> waiting;

  private RequestWait(Runnable goOn, Consumer<Throwable> fail) {
    this.waiting = new AtomicReference<>(Optional.of(new Waiting(goOn, fail)));
  }

  /**
   * Begins a wait for what may take hours, such as a write to METADATA; never throws.
   *
   * @param most how long the caller still waits
   * @param first what must happen first
   * @param goOn called if that happens in time; may throw
   * @param fail called in every other case, and with what {@code goOn} threw
   */
  static void begin(
      ProcessRuntime runtime,
      Duration most,
      Signal first,
      Runnable goOn,
      Consumer<Throwable> fail) {
    RequestWait wait = new RequestWait(goOn, fail);
    AtomicReference<Optional<Timer>> deadline = new AtomicReference<>(Optional.empty());
    Runnable over =
        () -> {
          deadline.getAndSet(Optional.empty()).ifPresent(Timer::cancel);
          wait.end(Optional.empty());
        };
    try {
      first.await(over);
      Timer timer =
          runtime.after(
              most,
              () -> {
                first.leave(over);
                wait.expire();
              });
      deadline.set(Optional.of(timer));
      if (first.hasHappened()) {
        timer.cancel();
      }
    } catch (RuntimeException | Error e) {
      first.leave(over);
      wait.end(Optional.of(e));
    }
  }

  /**
   * Begins a wait for what ends in seconds; never throws.
   *
   * @param most how long the caller still waits
   * @param first what must be over first
   * @param goOn called if that is over in time; may throw
   * @param fail called in every other case, and with what {@code goOn} threw
   */
  static void begin(
      ProcessRuntime runtime,
      Duration most,
      CompletableFuture<Void> first,
      Runnable goOn,
      Consumer<Throwable> fail) {
    RequestWait wait = new RequestWait(goOn, fail);
    try {
      Timer deadline = runtime.after(most, wait::expire);
      first.whenComplete(
          (done, failure) -> {
            deadline.cancel();
            wait.end(Optional.ofNullable(failure));
          });
    } catch (RuntimeException | Error e) {
      wait.end(Optional.of(e));
    }
  }

  private Optional<Waiting> take() {
    return waiting.getAndSet(Optional.empty());
  }

  private void expire() {
    take()
        .ifPresent(
            one ->
                one.fail.accept(
                    SteleException.retryLater(
                        "the tablet could not answer before the caller had given up")));
  }

  private void end(Optional<Throwable> failure) {
    Optional<Waiting> ended = take();
    if (ended.isEmpty()) {
      return;
    }
    if (failure.isPresent()) {
      ended.get().fail.accept(failure.get());
      return;
    }
    try {
      ended.get().goOn.run();
    } catch (RuntimeException | Error e) {
      ended.get().fail.accept(e);
    }
  }
}
