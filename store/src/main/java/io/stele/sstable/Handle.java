package io.stele.sstable;

/**
 * Where a block is.
 *
 * @param offset its first byte
 * @param length of the whole block in the file, in bytes
 */
record Handle(long offset, int length) {
  /** No block. */
  static final Handle NONE = new Handle(0, 0);

  boolean isNone() {
    return length == 0;
  }

  long end() {
    return offset + length;
  }

  @Override
  public String toString() {
    return offset + "+" + length;
  }
}
