package io.stele.client;

import io.stele.runtime.ProcessRuntime;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Says in a line what calls wait for that take long. A person is told once for each call. The log
 * of a program has it once and then seldom, however many calls wait.
 *
 * <p>Safe for use by any number of threads, as {@code teller} is; a {@link Wait} is for one.
 */
final class LongWaits {
  /** Who waits for longer than this wants to know why. */
  static final Duration LONG = Duration.ofSeconds(3);

  /** How often the log of a program says it at most. */
  static final Duration SELDOM = Duration.ofMinutes(1);

  /** Long waits that are reported to nobody. */
  static final LongWaits UNSAID = new LongWaits(Optional.empty(), Optional.empty());

  private static final Logger LOG = LoggerFactory.getLogger(LongWaits.class);

  private final Optional<Consumer<String>> teller;
  private final Optional<Duration> again;

  private LongWaits(Optional<Consumer<String>> teller, Optional<Duration> again) {
    this.teller = teller;
    this.again = again;
  }

  /** Told to {@code teller}, which must not block or throw. */
  static LongWaits toPerson(Consumer<String> teller) {
    return new LongWaits(Optional.of(teller), Optional.empty());
  }

  /** Logged as warnings. */
  static LongWaits toLog(ProcessRuntime runtime) {
    return toLog(runtime, LOG::warn);
  }

  /** Logged by {@code log}, which must not block or throw. */
  static LongWaits toLog(ProcessRuntime runtime, Consumer<String> log) {
    return new LongWaits(Optional.of(new Seldom(runtime, log)), Optional.of(SELDOM));
  }

  /** Passes on a line only if there was none for {@link #SELDOM}. */
  private static final class Seldom implements Consumer<String> {
    private final ProcessRuntime runtime;
    private final Consumer<String> log;
    private OptionalLong last = OptionalLong.empty();

    Seldom(ProcessRuntime runtime, Consumer<String> log) {
      this.runtime = runtime;
      this.log = log;
    }

    @Override
    public void accept(String line) {
      if (isDue(runtime.nanoTime())) {
        log.accept(line);
      }
    }

    private synchronized boolean isDue(long now) {
      boolean due = last.isEmpty() || now - last.getAsLong() >= SELDOM.toNanos();
      last = due ? OptionalLong.of(now) : last;
      return due;
    }
  }

  /** A call begins to wait. */
  Wait begin() {
    return new Wait();
  }

  /** One call that waits. */
  final class Wait {
    private Optional<Duration> next = teller.map(one -> LONG);

    /** After how long there is something to say; empty: never again. */
    Optional<Duration> next() {
      return next;
    }

    /** Says {@code line} if it is time for it, {@code elapsed} after the beginning. */
    void goesOn(Duration elapsed, Supplier<String> line) {
      if (next.isPresent() && elapsed.compareTo(next.get()) >= 0) {
        next = again.map(elapsed::plus);
        teller.orElseThrow().accept(line.get());
      }
    }
  }
}
