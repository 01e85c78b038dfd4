package io.stele.log;

import java.io.IOException;

/**
 * What is known of the tablet server whose log is fenced. Silence is no evidence of anything.
 *
 * <p>Safe for use by any number of threads.
 */
public interface LogOwner {
  /** One of which nothing is known: it may be alive and acknowledge writes. */
  LogOwner UNKNOWN =
      new LogOwner() {
        @Override
        public boolean hasEnded() {
          return false;
        }

        @Override
        public boolean isWithoutLease() {
          return false;
        }
      };

  /** One whose process was seen to end. */
  LogOwner ENDED =
      new LogOwner() {
        @Override
        public boolean hasEnded() {
          return true;
        }

        @Override
        public boolean isWithoutLease() {
          return true;
        }
      };

  /** Whether its process was seen to end. Answers at once. */
  boolean hasEnded();

  /**
   * Whether its last lease is over, for good: it acknowledges nothing more, though it may still
   * write to its log. Ask only after the log's directory was renamed.
   *
   * @throws IOException if that cannot be found out now
   */
  boolean isWithoutLease() throws IOException;
}
