package io.stele.runtime;

import io.stele.model.SteleException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.UncheckedIOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;

/** The one way to wait for a future, and to see what made it fail. */
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

  /** Marks the thread as interrupted, for callers further up to see. */
  public static void interruptAgain() {
    Thread.currentThread().interrupt();
  }
}
