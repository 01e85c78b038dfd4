package io.stele.model;

/**
 * A tablet refused an operation because it may have known it and forgotten it. Nothing was changed
 * now; whether it was applied before, the tablet does not know. A client that knows that it was not
 * may send it under another id, of which no operation is older.
 */
public final class OperationForgottenException extends SteleException {
  private static final long serialVersionUID = 1L;

  /** An exception that says {@code message}. */
  public OperationForgottenException(String message) {
    super(Code.REFUSED, message);
  }
}
