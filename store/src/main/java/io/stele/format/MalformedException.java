package io.stele.format;

import java.io.IOException;

/**
 * Bytes that cannot be what was written. Who knows the file or connection they came from says so in
 * its own exception.
 */
public final class MalformedException extends IOException {
  private static final long serialVersionUID = 1L;

  /** Says what is wrong and where, in bytes from the start of what was being decoded. */
  public MalformedException(int position, String detail) {
    super("at byte " + position + ": " + detail);
  }
}
