package io.stele.tabletserver;

import io.stele.metadata.RecordChangedException;
import io.stele.model.SteleException;
import io.stele.runtime.Futures;
import io.stele.runtime.IoCallable;
import io.stele.runtime.ProcessRuntime;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Whether this server is still alive. The server stops itself only through this class.
 *
 * <p>It stops once, for the first reason given. Safe for use by any number of threads.
 */
final class ServerLife {
  private static final Logger LOG = LoggerFactory.getLogger(ServerLife.class);
  private static final Duration PAUSE = Duration.ofMillis(200);

  private final ProcessRuntime runtime;
  private final Consumer<String> onAbort;
  private final AtomicReference<String> why = new AtomicReference<>();
  private final CompletableFuture<Void> ended = new CompletableFuture<>();

  /** A life that tells {@code onAbort}, once, why it ended prematurely. */
  ServerLife(ProcessRuntime runtime, Consumer<String> onAbort) {
    this.runtime = runtime;
    this.onAbort = onAbort;
  }

  /** Ends the server at once: it acknowledges nothing more. */
  void abort(String reason) {
    if (end(reason)) {
      LOG.error("This tablet server stops: {}", reason);
      onAbort.accept(reason);
    }
  }

  /** Ends the server in an orderly way. */
  boolean end(String reason) {
    boolean first = why.compareAndSet(null, reason);
    ended.complete(null);
    return first;
  }

  boolean isOver() {
    return why.get() != null;
  }

  /**
   * Waits until the server has ended, or {@code timeout} has passed.
   *
   * @return whether it has ended
   */
  boolean awaitEnd(Duration timeout) throws InterruptedException {
    return runtime.await(ended, timeout);
  }

  /**
   * Waits a moment before {@code what} is retried.
   *
   * @throws IOException if the server stops first
   */
  private void pause(String what, Exception last) throws IOException {
    LOG.info("Could not {} yet; will retry: {}", what, last.toString());
    try {
      if (awaitEnd(PAUSE)) {
        throw new IOException(
            "could not " + what + ": the server is stopping (" + why.get() + ")", last);
      }
    } catch (InterruptedException e) {
      throw Futures.interrupted(e, "could not " + what);
    }
  }

  /**
   * Whether METADATA has not made the change, and would not: it is refused, or a file is damaged.
   */
  private static boolean isRejected(SteleException e) {
    return (e.code() == SteleException.Code.REFUSED || e.code() == SteleException.Code.CORRUPTION)
        && !(e instanceof RecordChangedException);
  }

  /**
   * Repeats {@code attempt} until its outcome is known: while it certainly changed nothing, it is
   * retried; if the outcome stays unknown, or the tablet is no longer this server's, the server
   * ends.
   *
   * @param what for messages: "split tablet x"
   * @param attempt reads or writes METADATA
   * @throws ChangeRefusedException if it changed nothing and never would: the server goes on
   * @throws IOException if the server ends first
   */
  <T> T untilKnown(String what, IoCallable<T> attempt) throws IOException {
    while (true) {
      try {
        return attempt.call();
      } catch (SteleException e) {
        if (isRejected(e)) {
          throw new ChangeRefusedException(what, e);
        }
        if (e.code() != SteleException.Code.RETRY_LATER) {
          abort("cannot " + what + ": " + e.getMessage());
          throw e;
        }
        pause(what, e);
      } catch (RuntimeException e) {
        abort("it is unknown whether it could " + what + ": " + e);
        throw e;
      } catch (InterruptedIOException e) {
        abort("it is unknown whether it could " + what + ": " + e.getMessage());
        throw SteleException.outcomeUnknown("it is unknown whether it could " + what, e);
      } catch (IOException e) {
        pause(what, e); // Nothing was changed.
      }
    }
  }
}
