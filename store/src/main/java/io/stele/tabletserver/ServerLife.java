package io.stele.tabletserver;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Whether this server still lives, and its one way to end itself.
 *
 * <p>It ends once, for the first reason given. Safe for use by any number of threads.
 */
final class ServerLife {
  private static final Logger LOG = LoggerFactory.getLogger(ServerLife.class);
  private static final long PAUSE_MILLIS = 200;

  private final Consumer<String> onAbort;
  private final AtomicReference<String> why = new AtomicReference<>();
  private final CountDownLatch ended = new CountDownLatch(1);

  /** A life that tells {@code onAbort}, once, why it ended before its time. */
  ServerLife(Consumer<String> onAbort) {
    this.onAbort = onAbort;
  }

  /** Ends the server at once: it acknowledges nothing more. */
  void abort(String reason) {
    if (end(reason)) {
      LOG.error("This tablet server ends: {}", reason);
      onAbort.accept(reason);
    }
  }

  /** Ends the server in order. */
  boolean end(String reason) {
    boolean first = why.compareAndSet(null, reason);
    ended.countDown();
    return first;
  }

  boolean isOver() {
    return why.get() != null;
  }

  /**
   * Waits a moment before {@code what} is tried again.
   *
   * @throws IOException where the server ends meanwhile
   */
  void pause(String what, Exception last) throws IOException {
    LOG.info("Could not {} yet: {}", what, last.toString());
    try {
      if (ended.await(PAUSE_MILLIS, TimeUnit.MILLISECONDS)) {
        throw new IOException("could not " + what + ": the server ends (" + why.get() + ")", last);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      InterruptedIOException interrupted =
          new InterruptedIOException("interrupted: could not " + what);
      interrupted.initCause(e);
      throw interrupted;
    }
  }
}
