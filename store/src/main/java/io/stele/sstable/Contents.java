package io.stele.sstable;

import java.util.Arrays;

/** The checked, uncompressed contents of a block: a part of an array that may hold more. */
final class Contents {
  private final byte[] array;
  private final int offset;
  private final int length;

  Contents(byte[] array, int offset, int length) {
    this.array = array;
    this.offset = offset;
    this.length = length;
  }

  byte[] array() {
    return array;
  }

  int offset() {
    return offset;
  }

  int length() {
    return length;
  }

  byte[] toByteArray() {
    return Arrays.copyOfRange(array, offset, offset + length);
  }
}
