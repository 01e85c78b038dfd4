package io.stele.metadata;

import io.stele.model.SteleException;

/**
 * Something was not done in time. Whoever needed it may run out of time as well, and then reports
 * the {@link #reason} alone, so that people read one message and not one within another.
 */
final class TimedOutException extends SteleException {
  private static final long serialVersionUID = 1L;

  private final String reason;

  /**
   * @param reason what stood in the way, of all that was needed for this
   */
  TimedOutException(Code code, String message, String reason, Throwable cause) {
    super(code, message, cause);
    this.reason = reason;
  }

  /** One whose message is its reason. */
  TimedOutException(String reason) {
    super(Code.RETRY_LATER, reason);
    this.reason = reason;
  }

  /** What stood in the way. */
  String reason() {
    return reason;
  }
}
