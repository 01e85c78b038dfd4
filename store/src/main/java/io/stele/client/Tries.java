package io.stele.client;

import io.stele.config.Keys;
import io.stele.model.SteleException;
import io.stele.model.SteleException.Code;
import io.stele.runtime.Deadline;
import io.stele.wire.CallException;
import io.stele.wire.NotServingTabletException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.random.RandomGenerator;

/**
 * The tries of one mutation in batches: whether a failure is worth another try, when that is due,
 * and what to say when there is no time for one.
 *
 * <p>Once a change may have been applied without our knowing, it stays so until an answer tells: a
 * later try that is refused then means that the outcome is unknown, not that nothing was changed.
 *
 * <p>Not safe for use by several threads at once.
 */
final class Tries {
  private static final Duration FIRST_PAUSE = Duration.ofMillis(20);
  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(1);
  private static final Duration TRY_MAX = Duration.ofSeconds(15);

  /** What to do after a failure. */
  enum Verdict {
    /** Try again where it was tried. */
    AGAIN,
    /** Find the tablet anew, then try again. */
    ELSEWHERE,
    /** Trying again would not help. */
    FAIL
  }

  private final Duration timeout;
  private final Deadline deadline;
  private int failures;
  private boolean mayBeApplied;

  /** Tries from now on. */
  Tries(TableRef table) {
    this.timeout = table.timeout();
    this.deadline = table.deadline();
  }

  /** When they end. */
  Deadline deadline() {
    return deadline;
  }

  /** What to do after {@code failure} of a try that was sent to a server. */
  Verdict afterSending(Throwable failure) {
    failures++;
    if (failure instanceof CallException lost) {
      mayBeApplied |= lost.mayHaveExecuted();
      return Verdict.ELSEWHERE;
    }
    if (failure instanceof NotServingTabletException) {
      return Verdict.ELSEWHERE;
    }
    if (failure instanceof SteleException answer) {
      return switch (answer.code()) {
        case RETRY_LATER -> Verdict.AGAIN;
        case OUTCOME_UNKNOWN -> {
          mayBeApplied = true;
          yield Verdict.AGAIN;
        }
        case NOT_FOUND, REFUSED, CORRUPTION -> Verdict.FAIL;
      };
    }
    mayBeApplied = true; // An answer that could not be read, or a mistake of ours.
    return failure instanceof IOException ? Verdict.AGAIN : Verdict.FAIL;
  }

  /** What to do after {@code failure} to find the tablet. */
  Verdict afterLocating(Throwable failure) {
    failures++;
    boolean again =
        failure instanceof SteleException answer
            ? answer.code() == Code.RETRY_LATER || answer.code() == Code.OUTCOME_UNKNOWN
            : failure instanceof IOException || failure instanceof UncheckedIOException;
    return again ? Verdict.ELSEWHERE : Verdict.FAIL;
  }

  /** How long to wait before the next try; longer after each failure, and never quite the same. */
  Duration pause(RandomGenerator random) {
    long millis = FIRST_PAUSE.toMillis() << Math.min(failures - 1, 10);
    long bounded = Math.min(millis, LONGEST_PAUSE.toMillis());
    return Duration.ofMillis(bounded / 2 + random.nextLong(bounded / 2 + 1));
  }

  /** Whether there is time for a try after {@code pause}. */
  boolean hasTime(Duration pause) {
    return deadline.remaining().compareTo(pause) > 0;
  }

  /** How long one try may take: so that a server that hangs does not take all the time there is. */
  Duration tryTimeout() {
    Duration left = deadline.remaining();
    return left.compareTo(TRY_MAX) < 0 ? left : TRY_MAX;
  }

  /** What to throw for a failure that another try would not help. */
  SteleException failed(String what, Throwable failure) {
    if (mayBeApplied) {
      return new SteleException(
          Code.OUTCOME_UNKNOWN,
          what
              + ": it is unknown whether it was applied. A try was lost, and then: "
              + message(failure),
          failure);
    }
    return failure instanceof SteleException stele
        ? new SteleException(stele.code(), what + ": " + stele.getMessage(), stele)
        : new SteleException(Code.RETRY_LATER, what + ": " + message(failure), failure);
  }

  /** What to throw when the time is up after {@code last}. */
  SteleException timedOut(String what, Throwable last) {
    String text =
        what
            + ": not done within "
            + timeout.toMillis()
            + " ms ("
            + Keys.CLIENT_TIMEOUT.name()
            + ") and "
            + failures
            + (failures == 1 ? " try; " : " tries; ");
    return mayBeApplied
        ? new SteleException(
            Code.OUTCOME_UNKNOWN,
            text + "it is unknown whether it was applied. The last: " + message(last),
            last)
        : new SteleException(
            Code.RETRY_LATER,
            text
                + "it was not applied. See whether the tablet servers run (stele yarn status). The"
                + " last: "
                + message(last),
            last);
  }

  private static String message(Throwable failure) {
    return failure.getMessage() == null ? failure.toString() : failure.getMessage();
  }
}
