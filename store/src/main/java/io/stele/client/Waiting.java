package io.stele.client;

import io.stele.model.SteleException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;

/** From futures to calls that wait. */
final class Waiting {
  private Waiting() {}

  /**
   * The future's result, or its failure thrown.
   *
   * @throws InterruptedIOException where the thread was interrupted, which it then still is
   */
  static <T> T on(CompletableFuture<T> future) throws IOException {
    try {
      return future.get();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      InterruptedIOException interrupted =
          new InterruptedIOException(
              "interrupted while waiting for Stele: whether a change was applied is unknown");
      interrupted.initCause(e);
      throw interrupted;
    } catch (ExecutionException e) {
      throw thrown(cause(e));
    }
  }

  /** What failed, without the wrapping that futures add. */
  static Throwable cause(Throwable failure) {
    Throwable cause = failure;
    while ((cause instanceof CompletionException || cause instanceof ExecutionException)
        && cause.getCause() != null) {
      cause = cause.getCause();
    }
    return cause;
  }

  /** What failed, as a failure of Stele: what is not one leaves the outcome open. */
  static SteleException failure(Throwable failure) {
    Throwable cause = cause(failure);
    return cause instanceof SteleException stele
        ? stele
        : SteleException.outcomeUnknown(String.valueOf(cause.getMessage()), cause);
  }

  /**
   * {@code failure} for the thread that waited: with its own place in the stack trace, which tells
   * more than that of the event loop.
   */
  private static IOException thrown(Throwable failure) {
    if (failure instanceof MutationsFailedException failed) {
      throw failed;
    }
    if (failure instanceof SteleException stele) {
      throw new SteleException(stele.code(), stele.getMessage(), stele);
    }
    if (failure instanceof Error error) {
      throw error;
    }
    return new IOException(failure.getMessage(), failure);
  }
}
