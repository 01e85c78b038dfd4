package io.stele.metadata;

import io.stele.model.SteleException;
import io.stele.model.SteleException.Code;
import io.stele.runtime.Deadline;
import io.stele.runtime.Futures;
import io.stele.runtime.ProcessRuntime;
import io.stele.wire.CallException;
import io.stele.wire.NotServingTabletException;
import io.stele.wire.RetryAfterException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Supplier;
import org.apache.hadoop.net.ConnectTimeoutException;

/**
 * The attempts at one request: decides after each failure whether another attempt is worth it, when
 * to make it, and what to say when there is none.
 *
 * <p>Once an attempt may have changed something without our knowing, the request is <em>in
 * doubt</em> until an answer resolves it: a later attempt that is refused then means that the
 * outcome is unknown, not that nothing was changed. So every failure but OUTCOME_UNKNOWN says that
 * nothing was changed.
 *
 * <p>Not safe for use by several threads at once; attempts follow each other.
 */
public final class Attempts {
  /** The longest pause before another attempt, unless a server asks for a longer one. */
  public static final Duration PAUSE_MAX = Duration.ofSeconds(1);

  private static final Duration FIRST_PAUSE = Duration.ofMillis(20);
  private static final Patience USUAL =
      new Patience(Duration.ofSeconds(15), Duration.ofSeconds(15));

  // What is refused now is known to be refused; what is sent and not answered in time is not. So
  // there is no attempt with less time than a part of the time-out, between these two.
  private static final int ATTEMPT_PART = 20;
  private static final Duration ATTEMPT_LEAST = Duration.ofMillis(5);
  private static final Duration ATTEMPT_MOST = Duration.ofMillis(50);

  private final ProcessRuntime runtime;
  private final Purpose purpose;
  private final Deadline deadline;
  private final Duration timeout;
  private Duration patience; // Of the next attempt.
  private int failures;
  private boolean inDoubt;

  /** What a request does, as far as sending it again goes. */
  public enum Effect {
    /** It changes nothing: it may be sent again, and is never in doubt. */
    READ,
    /** It carries an operation id, so that it is applied once however often it is sent. */
    CHANGE_WITH_ID,
    /** It may be applied twice if it is sent twice: it is not sent again once it is in doubt. */
    CHANGE
  }

  /**
   * How long to wait for an answer: a server that hangs must not use up all the time. Twice as long
   * after each attempt that had none, as the server may just be slow.
   *
   * @param first at first
   * @param most at most
   */
  public record Patience(Duration first, Duration most) {
    private Duration after(Duration before) {
      Duration twice = before.multipliedBy(2);
      return twice.compareTo(most) < 0 ? twice : most;
    }
  }

  /**
   * What is attempted.
   *
   * @param what for messages: gives "changing row \"r\" of table t"
   * @param timeoutKey the configuration key that sets the time limit, for messages
   * @param patience with each attempt
   */
  public record Purpose(
      Supplier<String> what, Effect effect, Optional<String> timeoutKey, Patience patience) {
    /** A purpose whose time limit no key sets. */
    public static Purpose of(Effect effect, Supplier<String> what) {
      return new Purpose(what, effect, Optional.empty(), USUAL);
    }

    /** The same, with a time limit that {@code key} sets. */
    public Purpose limitedBy(String key) {
      return new Purpose(what, effect, Optional.of(key), patience);
    }

    /** The same, with other patience. */
    Purpose with(Patience other) {
      return new Purpose(what, effect, timeoutKey, other);
    }
  }

  /** What to do after a failure. */
  public sealed interface Decision {
    /**
     * Make another attempt.
     *
     * @param pause how long to wait before it
     * @param elsewhere whether the server asked is not, or may not be, the one to ask
     */
    record Again(Duration pause, boolean elsewhere) implements Decision {}

    /**
     * Give up.
     *
     * @param failure what to throw
     */
    record End(SteleException failure) implements Decision {}
  }

  /** Attempts that end at {@code deadline}. */
  public Attempts(ProcessRuntime runtime, Purpose purpose, Deadline deadline) {
    this.runtime = runtime;
    this.purpose = purpose;
    this.deadline = deadline;
    this.timeout = deadline.remaining();
    this.patience = purpose.patience().first();
  }

  /** When they end. */
  public Deadline deadline() {
    return deadline;
  }

  /** How long one attempt may take. */
  public Duration attemptTimeout() {
    Duration left = deadline.remaining();
    return left.compareTo(patience) < 0 ? left : patience;
  }

  /** What to do after {@code failure} of an attempt before anything was sent. */
  public Decision notSent(Throwable failure) {
    failures++;
    Throwable cause = Futures.cause(failure);
    boolean again =
        cause instanceof SteleException known
            ? known.code() == Code.RETRY_LATER || known.code() == Code.OUTCOME_UNKNOWN
            : cause instanceof IOException && !isInterruption(cause);
    return again ? again(cause, true) : end(cause);
  }

  /** What to do after {@code failure} of an attempt that was sent to a server. */
  public Decision sent(Throwable failure) {
    failures++;
    Throwable cause = Futures.cause(failure);
    if (cause instanceof CallException lost) {
      patience = purpose.patience().after(patience);
      return lost.mayHaveExecuted() ? doubt(cause, true) : again(cause, true);
    }
    if (cause instanceof SteleException answer) {
      return switch (answer.code()) {
        case RETRY_LATER -> again(cause, cause instanceof NotServingTabletException);
        case OUTCOME_UNKNOWN -> doubt(cause, false);
        case NOT_FOUND, REFUSED, CORRUPTION -> end(cause);
      };
    }
    if (wasNotReached(cause)) {
      return again(cause, true);
    }
    if (cause instanceof IOException && !isInterruption(cause)) {
      return doubt(cause, true);
    }
    inDoubt |= purpose.effect() != Effect.READ; // An interruption, or a mistake of ours.
    return end(cause);
  }

  private Decision doubt(Throwable cause, boolean elsewhere) {
    inDoubt |= purpose.effect() != Effect.READ;
    return purpose.effect() == Effect.CHANGE ? end(cause) : again(cause, elsewhere);
  }

  private Decision again(Throwable cause, boolean elsewhere) {
    Duration left = deadline.remaining();
    if (left.compareTo(attemptMin()) < 0) {
      return new Decision.End(timedOut(cause));
    }
    Duration pause = pause(runtime, failures);
    if (cause instanceof RetryAfterException told && told.pause().compareTo(pause) > 0) {
      pause = told.pause();
    }
    Duration half =
        left.dividedBy(2); // So that the time is used up, but no attempt comes too late.
    return new Decision.Again(pause.compareTo(half) < 0 ? pause : half, elsewhere);
  }

  /** With less time left there is no other attempt; above 0, so that attempts come to an end. */
  private Duration attemptMin() {
    Duration part = timeout.dividedBy(ATTEMPT_PART);
    Duration most = part.compareTo(ATTEMPT_MOST) < 0 ? part : ATTEMPT_MOST;
    return most.compareTo(ATTEMPT_LEAST) < 0 ? ATTEMPT_LEAST : most;
  }

  /**
   * How long to pause after {@code failures} in a row: longer each time, and varied at random so
   * that many callers do not come back at once. Nothing after none.
   */
  static Duration pause(ProcessRuntime runtime, int failures) {
    if (failures == 0) {
      return Duration.ZERO;
    }
    long nanos = FIRST_PAUSE.toNanos() << Math.min(failures - 1, 10);
    long most = Math.min(nanos, PAUSE_MAX.toNanos());
    return Duration.ofNanos(most / 2 + runtime.random().nextLong(most / 2 + 1));
  }

  private Decision end(Throwable cause) {
    String text = purpose.what().get() + ": ";
    if (inDoubt) {
      text +=
          "it may or may not have been applied. The answer to an attempt was lost, and the next failed: ";
    }
    Code code = cause instanceof SteleException known ? known.code() : Code.RETRY_LATER;
    return new Decision.End(
        new SteleException(inDoubt ? Code.OUTCOME_UNKNOWN : code, text + message(cause), cause));
  }

  private SteleException timedOut(Throwable last) {
    String outcome =
        inDoubt
            ? "it may or may not have been applied"
            : purpose.effect() == Effect.READ ? "nothing was read" : "it was not applied";
    return new SteleException(
        inDoubt ? Code.OUTCOME_UNKNOWN : Code.RETRY_LATER,
        purpose.what().get()
            + ": not done within "
            + timeout.toMillis()
            + " ms"
            + purpose.timeoutKey().map(key -> " (" + key + ")").orElse("")
            + " and "
            + failures
            + (failures == 1 ? " attempt; " : " attempts; ")
            + outcome
            + ". Check that the servers run (stele yarn status). The last failure: "
            + message(last),
        last);
  }

  private static boolean wasNotReached(Throwable cause) {
    return cause instanceof ConnectException
        || cause instanceof NoRouteToHostException
        || cause instanceof UnknownHostException
        || cause instanceof ConnectTimeoutException;
  }

  /** Whether {@code cause} says that the waiting thread was interrupted. */
  public static boolean isInterruption(Throwable cause) {
    return cause instanceof InterruptedIOException && !(cause instanceof SocketTimeoutException);
  }

  private static String message(Throwable failure) {
    return failure.getMessage() == null ? failure.toString() : failure.getMessage();
  }
}
