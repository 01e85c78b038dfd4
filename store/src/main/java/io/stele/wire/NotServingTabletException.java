package io.stele.wire;

import io.stele.model.SteleException;

/**
 * The tablet asked for is not (any more) served by the server asked: locate it again. Nothing was
 * done.
 */
public final class NotServingTabletException extends SteleException {
  private static final long serialVersionUID = 1L;

  /** An exception that says {@code message}. */
  public NotServingTabletException(String message) {
    super(Code.RETRY_LATER, message);
  }
}
