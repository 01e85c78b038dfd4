package io.stele.format;

import java.io.IOException;

/**
 * Thrown for bytes that no writer can have written, or none of this version. Callers that know the
 * file or connection the bytes came from name it in an exception of their own.
 */
public final class MalformedException extends IOException {
  private static final long serialVersionUID = 1L;

  private final boolean newer;

  /** Says what is wrong and where, in bytes from the start of what was being decoded. */
  public MalformedException(int position, String detail) {
    this(position, detail, false);
  }

  private MalformedException(int position, String detail, boolean newer) {
    super("at byte " + position + ": " + detail);
    this.newer = newer;
  }

  /** Says what is not known here and may be of a later version, where checksums are right. */
  public static MalformedException newer(int position, String detail) {
    return new MalformedException(position, detail, true);
  }

  /**
   * Whether a later version may have written this: callers who have checked the bytes throw {@link
   * io.stele.model.NewerFormatException} then.
   */
  public boolean isNewer() {
    return newer;
  }

  /** Where and what is wrong; never null. */
  @Override
  public String getMessage() {
    return String.valueOf(super.getMessage());
  }
}
