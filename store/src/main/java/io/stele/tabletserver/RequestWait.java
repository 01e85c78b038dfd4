package io.stele.tabletserver;

import io.stele.model.SteleException;
import io.stele.runtime.ProcessRuntime;
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

  private RequestWait(Waiting waiting) {
    this.waiting = new AtomicReference<>(Optional.of(waiting));
  }

  /**
   * Begins a wait; never throws.
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
    RequestWait wait = new RequestWait(new Waiting(goOn, fail));
    try {
      Timer deadline = runtime.after(most, wait::expire);
      first.whenComplete(
          (done, failure) -> {
            deadline.cancel();
            wait.end(failure);
          });
    } catch (RuntimeException | Error e) {
      wait.end(e);
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

  private void end(Throwable failure) {
    Optional<Waiting> ended = take();
    if (ended.isEmpty()) {
      return;
    }
    if (failure != null) {
      ended.get().fail.accept(failure);
      return;
    }
    try {
      ended.get().goOn.run();
    } catch (RuntimeException | Error e) {
      ended.get().fail.accept(e);
    }
  }
}
