package io.stele.yarn;

import io.stele.runtime.Durations;
import io.stele.wire.application.ApplicationProtos.ApplicationStateProto;
import java.time.Duration;
import java.time.Instant;

/**
 * Reads the times that an earlier attempt of the ApplicationMaster saved. They are of the clock of
 * its machine, and that may differ from ours. How long before the saving something was is told by
 * one clock, and taken as it is. How long ago the saving was is told by two, and believed only
 * within bounds: it was not in the future, nor longer ago than the file system says by its own
 * clock, or than it takes YARN to begin another attempt if it runs and has room.
 *
 * @param shift what a saved time lacks to be one of our clock
 * @param now by our clock
 */
record SavedTimes(Duration shift, Instant now) {
  /** A state is saved again after this though nothing has changed, to tell that its time passes. */
  static final Duration REFRESH = Duration.ofMinutes(1);

  /**
   * The times in a state of this application.
   *
   * @param nextAttemptWithin within this after an attempt has saved for the last time what HDFS
   *     takes, the next one begins if YARN runs and has room
   */
  static SavedTimes of(StateFile.Saved saved, Duration nextAttemptWithin, Instant now) {
    ApplicationStateProto state = saved.state();
    if (!state.hasSavedAtMillis()) {
      return ofAnother(now);
    }
    Instant savedAt = Instant.ofEpochMilli(state.getSavedAtMillis());
    Duration passedMax = Durations.max(nextAttemptWithin.plus(REFRESH), saved.age());
    Duration passed =
        Durations.max(Duration.ZERO, Durations.min(Duration.between(savedAt, now), passedMax));
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
