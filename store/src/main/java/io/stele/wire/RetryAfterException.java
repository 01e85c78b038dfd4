package io.stele.wire;

import io.stele.model.SteleException;
import java.time.Duration;

/** Nothing was done, and the server said when to try again. */
public final class RetryAfterException extends SteleException {
  private static final long serialVersionUID = 1L;

  private final Duration pause;

  RetryAfterException(String message, Duration pause) {
    super(Code.RETRY_LATER, message);
    this.pause = pause;
  }

  /** How long to wait before the next attempt, at least. */
  public Duration pause() {
    return pause;
  }
}
