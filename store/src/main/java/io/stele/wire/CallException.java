package io.stele.wire;

import java.io.IOException;

/**
 * No answer came to a call on the data plane: the connection could not be made or was lost, or the
 * deadline was over.
 */
public final class CallException extends IOException {
  private static final long serialVersionUID = 1L;

  private final boolean mayHaveExecuted;

  /**
   * No answer.
   *
   * @param message says why
   * @param mayHaveExecuted see {@link #mayHaveExecuted()}
   */
  public CallException(String message, boolean mayHaveExecuted) {
    super(message);
    this.mayHaveExecuted = mayHaveExecuted;
  }

  /** The same, because of {@code cause}. */
  public CallException(String message, boolean mayHaveExecuted, Throwable cause) {
    super(message, cause);
    this.mayHaveExecuted = mayHaveExecuted;
  }

  /**
   * Whether the server may have got the request: then the outcome of a write is unknown. False only
   * where the request certainly did not leave whole, so that it was not executed and never will be.
   */
  public boolean mayHaveExecuted() {
    return mayHaveExecuted;
  }
}
