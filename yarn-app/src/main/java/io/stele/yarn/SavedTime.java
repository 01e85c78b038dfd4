package io.stele.yarn;

import java.time.Instant;

/** Reads times that an earlier attempt of the ApplicationMaster saved, by the clock it had. */
final class SavedTime {
  private SavedTime() {}

  /** When something happened, which was not later than now. */
  static Instant past(long millis, Instant now) {
    return earlier(millis, now);
  }

  /** A time that is not later than {@code limit}. */
  static Instant earlier(long millis, Instant limit) {
    Instant time = Instant.ofEpochMilli(millis);
    return time.isBefore(limit) ? time : limit;
  }
}
