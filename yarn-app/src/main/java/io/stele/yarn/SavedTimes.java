package io.stele.yarn;

import io.stele.wire.application.ApplicationProtos.ApplicationStateProto;
import java.time.Duration;
import java.time.Instant;

/**
 * Reads the times that an earlier attempt of the ApplicationMaster saved. They are of the clock of
 * its machine, and that may differ from ours. How long before the saving something was is told by
 * one clock, and taken as it is. How long ago the saving was is told by two, and believed only
 * within bounds: it was not in the future, nor longer ago than it takes YARN to begin another
 * attempt if it runs and has room. Where that took longer, or HDFS took no writes for some time
 * before, the rest does not count, even by clocks that agree: what is due comes later by that.
 *
 * @param shift what a saved time lacks to be one of our clock
 * @param now by our clock
 */
record SavedTimes(Duration shift, Instant now) {
  /** A state is saved again after this though nothing has changed, to tell that its time passes. */
  static final Duration REFRESH = Duration.ofMinutes(1);

  /** In this time a new attempt starts and reads the file. */
  private static final Duration START = Duration.ofMinutes(5);

  /**
   * The times in a state of this application.
   *
   * @param answerAge an attempt acts, and saves what HDFS takes, no longer than this after YARN has
   *     answered it, which begins another after twice the time if it has room
   */
  static SavedTimes of(ApplicationStateProto state, Duration answerAge, Instant now) {
    if (!state.hasSavedAtMillis()) {
      return ofAnother(now);
    }
    Instant savedAt = Instant.ofEpochMilli(state.getSavedAtMillis());
    Duration silenceMax = answerAge.multipliedBy(2).plus(REFRESH).plus(START);
    Duration passed = Duration.between(savedAt, now);
    if (passed.isNegative()) {
      passed = Duration.ZERO;
    } else if (passed.compareTo(silenceMax) > 0) {
      passed = silenceMax;
    }
    return new SavedTimes(Duration.between(savedAt.plus(passed), now), now);
  }

  /** The times in a state of another application, which may have ended long ago. */
  static SavedTimes ofAnother(Instant now) {
    return new SavedTimes(Duration.ZERO, now);
  }

  /** When something happened: not later than now. */
  Instant past(long millis) {
    return notAfter(millis, now);
  }

  /** When something is due: not later than {@code most} from now. */
  Instant within(long millis, Duration most) {
    return notAfter(millis, now.plus(most));
  }

  private Instant notAfter(long millis, Instant limit) {
    Instant time = any(millis);
    return time.isBefore(limit) ? time : limit;
  }

  /** A time without a limit. */
  Instant any(long millis) {
    return Instant.ofEpochMilli(millis).plus(shift);
  }
}
