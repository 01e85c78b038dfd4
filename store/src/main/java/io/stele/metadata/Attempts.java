package io.stele.metadata;

import io.stele.model.Amount;
import io.stele.model.OperationForgottenException;
import io.stele.model.SteleException;
import io.stele.model.SteleException.Code;
import io.stele.runtime.Deadline;
import io.stele.runtime.Durations;
import io.stele.runtime.Futures;
import io.stele.runtime.ProcessRuntime;
import io.stele.wire.CallException;
import io.stele.wire.DataPlane;
import io.stele.wire.NotServingTabletException;
import io.stele.wire.RetryAfterException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Supplier;
import org.apache.hadoop.net.ConnectTimeoutException;

/**
 * The attempts at one request: decides after each failure whether to make another attempt, when to
 * make it, and which failure to report if there is none.
 *
 * <p>Once an attempt may have changed something without the caller's knowledge, the request is
 * <em>in doubt</em> until an answer resolves it: if a later attempt is refused, the outcome is then
 * unknown. So every failure except OUTCOME_UNKNOWN says that nothing was changed.
 *
 * <p>Not safe for use by several threads at once; attempts follow each other.
 */
public final class Attempts {
  /** The longest pause before another attempt, unless a server asks for a longer one. */
  public static final Duration PAUSE_MAX = Duration.ofMillis(500);

  private static final Duration FIRST_PAUSE = Duration.ofMillis(20);

  /** A pause is this part of the time for which there has been trouble. */
  private static final int PAUSE_PART = 4;

  private static final Patience USUAL =
      new Patience(Duration.ofSeconds(15), Duration.ofSeconds(15));

  // A request refused now is known to be refused; one sent but not answered in time is in doubt. So
  // no attempt is made with less time than this part of the time limit, within these two bounds.
  private static final int ATTEMPT_PART = 20;
  private static final Duration ATTEMPT_LEAST = Duration.ofMillis(5);
  private static final Duration ATTEMPT_MOST = Duration.ofMillis(50);

  private final ProcessRuntime runtime;
  private final Purpose purpose;
  private final Deadline deadline;
  private Duration patience; // Of the next attempt.
  private int failures;
  private long firstFailureNanos;
  private boolean inDoubt;
  private boolean begun;
  private String lastFailure = "";

  /** Whether a request may be sent again. */
  public enum Effect {
    /** It changes nothing: it may be sent again, and is never in doubt. */
    READ,
    /** It carries an operation id, so it is applied once however often it is sent. */
    CHANGE_WITH_ID,
    /** It is applied twice if sent twice, so it is not sent again once it is in doubt. */
    CHANGE
  }

  /**
   * How long to wait for an answer: a server that hangs must not use up all the time. The wait
   * doubles after each attempt without an answer, because the server may only be slow.
   *
   * @param first the first wait
   * @param most the longest wait
   */
  public record Patience(Duration first, Duration most) {
    private Duration after(Duration before) {
      Duration twice = before.multipliedBy(2);
      return Durations.min(twice, most);
    }
  }

  /**
   * The request's purpose.
   *
   * @param what for messages: returns text such as "changing row \"r\" of table t"
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
     * @param elsewhere whether the last server is not, or may not be, the right one
     * @param lasting whether there has been trouble for so long that the last server may have lost
     *     the tablet without knowing it
     */
    record Again(Duration pause, boolean elsewhere, boolean lasting) implements Decision {}

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
    this.patience = purpose.patience().first();
  }

  /** The time at which the attempts end. */
  public Deadline deadline() {
    return deadline;
  }

  /** How long they have been made. */
  public Duration elapsed() {
    return deadline.limit().minus(deadline.remaining());
  }

  /** What the last failure said; empty before the first. */
  public String lastFailure() {
    return lastFailure;
  }

  /** How long one attempt may take. */
  public Duration attemptTimeout() {
    Duration left = deadline.remaining();
    return Durations.min(left, patience);
  }

  /**
   * Whether so little time is left that nothing should be sent: the answer would come too late to
   * tell the outcome.
   */
  public boolean isTooLate() {
    Duration half = deadline.limit().dividedBy(2); // A very short limit is for one attempt, too.
    Duration least = attemptMin();
    return deadline.remaining().compareTo(Durations.min(least, half)) < 0;
  }

  /** What to do after {@code failure} of an attempt before anything was sent. */
  public Decision notSent(Throwable failure) {
    Throwable cause = Futures.cause(failure);
    count(cause);
    boolean again =
        cause instanceof SteleException known
            ? known.code() == Code.RETRY_LATER || known.code() == Code.OUTCOME_UNKNOWN
            : cause instanceof IOException && !Futures.isInterruption(cause);
    return again ? again(cause, true) : end(cause);
  }

  /** What to do after {@code failure} of an attempt that was sent to a server. */
  public Decision sent(Throwable failure) {
    Throwable cause = Futures.cause(failure);
    count(cause);
    if (cause instanceof CallException lost) {
      patience = purpose.patience().after(patience);
      return lost.mayHaveExecuted() ? doubt(cause, true) : again(cause, true);
    }
    if (cause instanceof OperationForgottenException && !inDoubt) {
      return end( // It looked too old only because another that began before goes on.
          new SteleException(
              Code.RETRY_LATER,
              "it was not applied: try again (" + cause.getMessage() + ")",
              cause));
    }
    if (cause instanceof SteleException answer) {
      return switch (answer.code()) {
        case RETRY_LATER -> again(cause, cause instanceof NotServingTabletException);
        case OUTCOME_UNKNOWN -> doubt(cause, false);
        case NOT_FOUND, ALREADY_EXISTS, REFUSED, CORRUPTION -> end(cause);
      };
    }
    if (wasNotReached(cause)) {
      return again(cause, true);
    }
    if (cause instanceof IOException && !Futures.isInterruption(cause)) {
      return doubt(cause, true);
    }
    inDoubt |= purpose.effect() != Effect.READ; // An interruption, or a mistake of ours.
    return end(cause);
  }

  /** The failure to report when no attempt follows, although {@code why} is no answer to any. */
  public SteleException giveUp(Throwable why) {
    return end(Futures.cause(why)).failure();
  }

  private void count(Throwable cause) {
    lastFailure = reason(cause);
    if (failures == 0) {
      firstFailureNanos = runtime.nanoTime();
    }
    failures++;
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
    Duration pause = pause(runtime, firstFailureNanos);
    if (cause instanceof RetryAfterException told && told.pause().compareTo(pause) > 0) {
      pause = told.pause();
    }
    Duration half =
        left.dividedBy(2); // So that the time is used up, but no attempt comes too late.
    boolean lasting = runtime.nanoTime() - firstFailureNanos >= DataPlane.CHECK_EVERY.toNanos();
    return new Decision.Again(Durations.min(pause, half), elsewhere, lasting);
  }

  /** The least time left for another attempt; above 0, so that attempts come to an end. */
  private Duration attemptMin() {
    Duration part = deadline.limit().dividedBy(ATTEMPT_PART);
    Duration most = Durations.min(part, ATTEMPT_MOST);
    return Durations.max(most, ATTEMPT_LEAST);
  }

  /**
   * How long to pause when there has been trouble since {@code sinceNanos}. The longer it has
   * lasted, the longer the pause, up to a quarter of that time: so an attempt follows soon after
   * the trouble is over. With random variation, so that many callers do not return at once.
   */
  static Duration pause(ProcessRuntime runtime, long sinceNanos) {
    long part = (runtime.nanoTime() - sinceNanos) / PAUSE_PART;
    long most = Math.max(FIRST_PAUSE.toNanos(), Math.min(part, PAUSE_MAX.toNanos()));
    return Duration.ofNanos(most / 2 + runtime.random().nextLong(most / 2 + 1));
  }

  /**
   * What is attempted takes several requests, of which one has begun it: if time is over before it
   * is seen done, it may still be done. This resolves all doubt about the requests before.
   */
  public void begun() {
    begun = true;
    inDoubt = false;
  }

  /** If nothing else becomes known from now on, it may have been applied, or begun. */
  public void doubted() {
    inDoubt = true;
  }

  /** Whether one of the requests has begun it. */
  public boolean haveBegun() {
    return begun;
  }

  /** Whether one of the requests has begun it, or may have. */
  public boolean mayHaveBegun() {
    return begun || inDoubt;
  }

  private Decision.End end(Throwable cause) {
    String text = purpose.what().get() + ": ";
    if (inDoubt) {
      text +=
          "it may or may not have been applied. The answer to an attempt was lost, or not understood: ";
    }
    Code code = cause instanceof SteleException known ? known.code() : Code.RETRY_LATER;
    return new Decision.End(
        new SteleException(inDoubt ? Code.OUTCOME_UNKNOWN : code, text + message(cause), cause));
  }

  private SteleException timedOut(Throwable last) {
    return new TimedOutException(
        begun || inDoubt ? Code.OUTCOME_UNKNOWN : Code.RETRY_LATER,
        purpose.what().get()
            + ": not done within "
            + deadline.limit().plusNanos(999_999).toMillis()
            + " ms"
            + purpose.timeoutKey().map(key -> " (" + key + ")").orElse("")
            + " and "
            + Amount.of(failures, "attempt")
            + "; "
            + outcome()
            + ". The last failure: "
            + reason(last)
            + ". Check that the servers run: `stele yarn status`, `stele status`",
        last instanceof TimedOutException
            ? reason(last)
            : purpose.what().get() + ": " + reason(last),
        last);
  }

  private String outcome() {
    if (begun) {
      return "it was begun and may still be done";
    } else if (inDoubt) {
      return "it may or may not have been applied";
    }
    return purpose.effect() == Effect.READ ? "nothing was read" : "it was not applied";
  }

  /** Whether a call that failed so never reached the process that it was for. */
  public static boolean wasNotReached(Throwable cause) {
    return cause instanceof ConnectException
        || cause instanceof NoRouteToHostException
        || cause instanceof UnknownHostException
        || cause instanceof ConnectTimeoutException;
  }

  /** What stood in the way, without what was to be done about it. */
  static String reason(Throwable failure) {
    return failure instanceof TimedOutException late ? late.reason() : message(failure);
  }

  private static String message(Throwable failure) {
    return failure.getMessage() == null ? failure.toString() : failure.getMessage();
  }
}
