package io.stele.format;

import java.io.IOException;

/**
 * Thrown for bytes that no writer can have written. Callers that know the file or connection the
 * bytes came from name it in an exception of their own.
 */
public final class MalformedException extends IOException {
  private static final long serialVersionUID = 1L;

  /** Says what is wrong and where, in bytes from the start of what was being decoded. */
  public MalformedException(int position, String detail) {
    super("at byte " + position + ": " + detail);
  }

  /** Where and what is wrong; never null. */
  @Override
  public String getMessage() {
    return String.valueOf(super.getMessage());
  }
}
