package io.stele.runtime;

import java.time.Instant;
import java.time.InstantSource;

/**
 * A server's wall clock, which also says whether it can be trusted. Safe for use by any number of
 * threads.
 */
public interface ServerClock extends InstantSource {
  /**
   * Whether what cannot be undone may go by this clock, such as dropping what has become old: not
   * while it is known, or suspected, to be wrong.
   */
  boolean isTrusted();

  /** A clock that is always believed. */
  static ServerClock trusting(InstantSource wall) {
    return new ServerClock() {
      @Override
      public Instant instant() {
        return wall.instant();
      }

      @Override
      public boolean isTrusted() {
        return true;
      }
    };
  }
}
