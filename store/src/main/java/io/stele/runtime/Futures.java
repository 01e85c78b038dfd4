package io.stele.runtime;

import io.stele.model.SteleException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.UncheckedIOException;
import java.net.SocketTimeoutException;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

/** Waits for futures, and unwraps their failures. No other code does so. */
public final class Futures {
  private Futures() {}

  /**
   * Waits for the result of {@code future}.
   *
   * @param what for the message of an interruption: "reading the root tablet's record"
   * @throws SteleException if it failed with one: of the same code, message and class
   * @throws IOException if it failed with anything else but an Error, or the thread was interrupted
   *     ({@link InterruptedIOException}); it is then still interrupted, and the outcome of a change
   *     is unknown
   */
  public static <T> T await(ProcessRuntime runtime, CompletableFuture<T> future, String what)
      throws IOException {
    try {
      return runtime.await(future);
    } catch (InterruptedException e) {
      throw interrupted(e, what);
    } catch (ExecutionException e) {
      Throwable cause = cause(e);
      if (cause instanceof SteleException known) {
        // With the place of the waiting thread, which tells more than that of an event loop.
        throw known.getClass().equals(SteleException.class)
            ? new SteleException(known.code(), known.getMessage(), known)
            : known;
      }
      if (cause instanceof IOException io) {
        throw io;
      }
      if (cause instanceof Error error) {
        throw error;
      }
      throw new IOException(what + ": " + cause.getMessage(), cause);
    }
  }

  /**
   * Takes steps, one after another, until one has a result. However many there are and on whatever
   * threads they end, the stack does not grow with them.
   *
   * @param step one step; empty: another must follow
   */
  public static <T> CompletableFuture<T> repeat(Supplier<CompletableFuture<Optional<T>>> step) {
    Repetition<T> repetition = new Repetition<>(step);
    repetition.takeDueSteps();
    return repetition.result;
  }

  /**
   * Does {@code work} on this thread, and completes {@code result} as it ends. The end of the
   * process is not a result.
   */
  public static <T> void complete(CompletableFuture<T> result, IoCallable<T> work) {
    try {
      result.complete(work.call());
    } catch (ProcessEnded e) {
      throw e;
    } catch (IOException | RuntimeException | Error e) {
      result.completeExceptionally(e);
    }
  }

  private static final class Repetition<T> {
    private final Supplier<CompletableFuture<Optional<T>>> step;
    private final CompletableFuture<T> result = new CompletableFuture<>();
    private final AtomicInteger due = new AtomicInteger();

    Repetition(Supplier<CompletableFuture<Optional<T>>> step) {
      this.step = step;
    }

    /** Takes the steps that are due, unless a caller further up the stack, or another, does. */
    void takeDueSteps() {
      if (due.getAndIncrement() == 0) {
        do {
          take();
        } while (due.decrementAndGet() > 0);
      }
    }

    private void take() {
      if (result.isDone()) {
        return; // It was cancelled.
      }
      try {
        step.get().whenComplete(this::taken);
      } catch (RuntimeException | Error e) {
        result.completeExceptionally(e);
      }
    }

    private void taken(Optional<T> found, Throwable failure) {
      if (failure != null) {
        result.completeExceptionally(failure);
      } else if (found.isPresent()) {
        result.complete(found.get());
      } else {
        takeDueSteps();
      }
    }
  }

  /** What failed, without the wrapping that futures and streams add. */
  public static Throwable cause(Throwable failure) {
    Throwable cause = failure;
    while ((cause instanceof CompletionException
            || cause instanceof ExecutionException
            || cause instanceof UncheckedIOException)
        && cause.getCause() != null) {
      cause = cause.getCause();
    }
    return cause;
  }

  /** Marks the thread as interrupted again, and says during what it was. */
  public static InterruptedIOException interrupted(InterruptedException cause, String what) {
    interruptAgain();
    InterruptedIOException interrupted = new InterruptedIOException("interrupted: " + what);
    interrupted.initCause(cause);
    return interrupted;
  }

  /** Whether {@code cause} says that the waiting thread was interrupted. */
  public static boolean isInterruption(Throwable cause) {
    return cause instanceof InterruptedIOException && !(cause instanceof SocketTimeoutException);
  }

  /** Marks the thread as interrupted, for callers further up to see. */
  public static void interruptAgain() {
    Thread.currentThread().interrupt();
  }
}
