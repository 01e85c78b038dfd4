package io.stele.model;

import java.io.IOException;

/**
 * Stored bytes differ from what was written. The exception says in which file, where in it, and
 * what is wrong. Such bytes are never served.
 */
public final class CorruptionException extends IOException {
  private static final long serialVersionUID = 1L;

  private final String file;
  private final long offset;
  private final String detail;

  /**
   * Damage found.
   *
   * @param file the damaged file
   * @param offset where in it, in bytes from its start
   * @param detail which part (block, footer, record) and how it differs from what it should be
   */
  public CorruptionException(String file, long offset, String detail) {
    super(file + " is damaged at offset " + offset + ": " + detail);
    this.file = file;
    this.offset = offset;
    this.detail = detail;
  }

  /** The same, found by {@code cause}. */
  public CorruptionException(String file, long offset, String detail, Throwable cause) {
    this(file, offset, detail);
    initCause(cause);
  }

  /** What is damaged, where and how; never null. */
  @Override
  public String getMessage() {
    return String.valueOf(super.getMessage());
  }

  /** The damaged file. */
  public String file() {
    return file;
  }

  /** Where in the file the damage is, in bytes from its start. */
  public long offset() {
    return offset;
  }

  /** Which part is damaged and how, without file and offset. */
  public String detail() {
    return detail;
  }
}
